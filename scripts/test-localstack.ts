// `npm run proof -- localstack`: the tests of proofs/e2e on LocalStack, or what is named: `npm run proof --
// localstack retries`. LocalStack is the one at AWS_ENDPOINT_URL; else that of docker compose, if Docker is
// there; else one that localstack/run-without-docker installs and starts. What was running already goes on
// running.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

interface Running {
  readonly endpoint: string;
  stop(): Promise<void>;
}

const VOLUMES =
  'backup-and-restore,cli,copies,deletion,jobs-takeover,kill-everything,poison-paste,round-trips,same-message-many-times';
const TESTS = ['*.test.ts', '*.{faults,observability}.ts', `{${VOLUMES}}.volume.ts`].map(
  (files) => `**/e2e/test/${files}`,
);

const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);

const stopped = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopped.abort());

const localstack = await theOneThatIsThere();
console.log(`the tests of proofs/e2e, on LocalStack at ${localstack.endpoint}`);
try {
  process.exitCode = await test(localstack.endpoint, process.argv.slice(2));
} finally {
  await localstack.stop();
}

async function theOneThatIsThere(): Promise<Running> {
  const endpoint = process.env['AWS_ENDPOINT_URL'];
  if (endpoint) return { endpoint, stop: async () => {} };
  return hasDocker() ? ofCompose() : await withoutDocker();
}

/** The client alone is no use: there has to be a daemon that answers. */
function hasDocker(): boolean {
  return ['info', 'compose version'].every(
    (command) => spawnSync('docker', command.split(' '), { stdio: 'ignore', timeout: 20_000 }).status === 0,
  );
}

function ofCompose(): Running {
  const compose = (...args: string[]) =>
    spawnSync('docker', ['compose', ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  const wasRunning = compose('ps', '--status', 'running', '--quiet', 'localstack').stdout.trim() !== '';
  if (compose('up', '--wait', '--detach', 'localstack').status !== 0)
    throw new Error('docker compose can’t start LocalStack: see its messages above');
  const port = process.env['LOCALSTACK_PORT'] || '4566';
  return {
    endpoint: `http://127.0.0.1:${port}`,
    stop: async () => {
      if (!wasRunning) compose('rm', '--stop', '--force', 'localstack');
    },
  };
}

async function withoutDocker(): Promise<Running> {
  const child = spawn('localstack/run-without-docker', ['--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const stop = async (): Promise<void> => await end(child);
  stopped.signal.addEventListener('abort', () => void stop()); // while it starts, too
  for await (const line of createInterface({ input: child.stdout })) {
    const [, endpoint] = /^AWS_ENDPOINT_URL=(.*)$/.exec(line) ?? [];
    if (endpoint !== undefined) return { endpoint, stop };
  }
  throw new Error('LocalStack didn’t start: see the messages above');
}

async function test(endpoint: string, patterns: readonly string[]): Promise<number> {
  const options = ['--config', 'jest.config.mjs', '--rootDir', 'proofs/e2e', '--testMatch', ...TESTS];
  const child = spawn('scripts/jest', [...options, '--maxWorkers', '2', ...patterns], {
    stdio: 'inherit',
    env: {
      ...process.env,
      TEST_RUN_NAME: 'localstack',
      AWS_ENDPOINT_URL: endpoint,
      TEST_SERVICES_FROM: 'sources', // as npm start does; npm test starts them from bundles
    },
  });
  stopped.signal.addEventListener('abort', () => void end(child));
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}
