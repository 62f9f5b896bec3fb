import * as http from 'node:http';
import { EXIT_FAILED, OutputClosedError } from './errors.ts';
import { run } from './program.ts';
import { stdoutOf, type Terminal } from './terminal/terminal.ts';

const VARIABLES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'];

/** Sends requests through the proxy that the environment names, except to the hosts of NO_PROXY. */
function useProxyOfEnvironment({ env, stderr }: Pick<Terminal, 'env' | 'stderr'>): void {
  const [variable] = VARIABLES.filter((name) => (env[name] ?? '') !== '');
  if (variable === undefined || env.NODE_USE_ENV_PROXY === '1') return;
  // Node has the function since 24.14, and the variable since 22.21.
  const { setGlobalProxyFromEnv } = http as { setGlobalProxyFromEnv?: (env: Terminal['env']) => unknown };
  if (setGlobalProxyFromEnv !== undefined) setGlobalProxyFromEnv(env);
  else
    stderr.write(
      `pasteflow: this Node ignores ${variable}. Use Node 24.14 or later, or set NODE_USE_ENV_PROXY=1 with Node 22.21 or later.\n`,
    );
}

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
