import { run } from './run.ts';

const interrupt = new AbortController();
let received: NodeJS.Signals | undefined;

/** The first signal ends the command, which removes what is not complete. The second one ends the process at once. */
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(name, () => {
    if (received !== undefined) process.exit(1);
    received = name;
    interrupt.abort(new Error('Interrupted.'));
    process.stdin.destroy();
  });
}

// The reader of stdout is gone, for example `head`: nobody wants the rest.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') process.stderr.write(`pasteflow: stdout: ${error.message}\n`);
  process.exit(1);
});

const code = await run(process.argv.slice(2), process, interrupt.signal);

// The shell learns of a signal only from the process that it ends: it then stops its own loops, too.
if (received === undefined) process.exitCode = code;
else {
  process.removeAllListeners(received);
  process.kill(process.pid, received);
}
