import { EXIT_FAILED, OutputClosedError } from './errors.ts';
import { run } from './program.ts';
import { useProxyOfEnvironment } from './terminal/proxy.ts';
import { stdoutOf } from './terminal/terminal.ts';

const interrupt = new AbortController();
let received: NodeJS.Signals | undefined;

function interruptWith(reason: Error): void {
  interrupt.abort(reason);
  process.stdin.destroy();
}

/** The first signal ends the command, which tidies up. The second one ends the process. */
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(name, () => {
    if (received !== undefined) process.exit(EXIT_FAILED);
    received = name;
    interruptWith(new Error('Interrupted.'));
  });
}

const { stdin, stderr, env } = process;
const stdout = stdoutOf(process);

// When the reader of stdout is gone, for example `head`, nobody wants the rest, and there is nothing to say.
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') stderr.write(`pasteflow: stdout: ${error.message}\n`);
  process.exitCode = EXIT_FAILED;
  interruptWith(new OutputClosedError());
});

useProxyOfEnvironment({ env, stderr });
const code = await run(process.argv.slice(2), { stdin, stdout, stderr, env }, interrupt.signal);

// The shell learns of a signal only from the process that it ends: it then stops its own loops, too.
if (received === undefined) process.exitCode ||= code;
else {
  process.removeAllListeners(received);
  process.kill(process.pid, received);
}
