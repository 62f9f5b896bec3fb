import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { callSqs, spawnService, type SpawnedProcess } from '../src/testing/index.ts';
import { pathWithOnly } from './path-with-only.ts';
import { isAlive } from './processes.ts';
import { until } from '../src/testing/until.ts';
import { query } from './query.ts';

const entry = new URL('../src/stack-main.ts', import.meta.url).pathname;
// One folder for all tests: initdb with fsync takes two seconds.
const dataDir = mkdtempSync(join(tmpdir(), 'pasteflow-test-'));
let started: SpawnedProcess[] = [];
afterEach(async () => {
  for (const service of started) await service.stop();
  started = [];
});
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

function start(env: Record<string, string> = {}): SpawnedProcess {
  const ports = { STACK_POSTGRES_PORT: '0', STACK_AWS_PORT: '0' };
  const service = spawnService({
    entry,
    env: { PASTEFLOW_DATA_DIR: dataDir, ...ports, ...env },
    name: 'stack',
  });
  started.push(service);
  return service;
}

interface RunningStack {
  stack: SpawnedProcess;
  databaseUrl: string;
  endpoint: string;
  postmaster: number;
}

async function startRunning(env?: Record<string, string>): Promise<RunningStack> {
  const stack = start(env);
  await stack.waitFor(/Ctrl-C stops/);
  const file = parseEnv(readFileSync(join(dataDir, 'stack.env'), 'utf8'));
  const pidFile = readFileSync(join(dataDir, 'postgres/cluster/postmaster.pid'), 'utf8');
  return {
    stack,
    databaseUrl: file.DATABASE_URL as string,
    endpoint: file.AWS_ENDPOINT_URL as string,
    postmaster: Number(pidFile.split('\n')[0]),
  };
}

interface Message {
  Body: string;
  ReceiptHandle: string;
  Attributes?: { ApproximateReceiveCount: string };
}

async function sqs(endpoint: string, action: string, body: object): Promise<Message[]> {
  const { Messages = [] } = await callSqs<{ Messages?: Message[] }>(
    endpoint,
    action,
    'pasteflow-uploads',
    body,
  );
  return Messages;
}

const receive = (endpoint: string, visibility: number) =>
  sqs(endpoint, 'ReceiveMessage', {
    MaxNumberOfMessages: 10,
    VisibilityTimeout: visibility,
    AttributeNames: ['ApproximateReceiveCount'],
  });

/**
 * Writes and deletes rows, messages and objects. A later start must find exactly what was acknowledged here.
 */
async function fill({ databaseUrl, endpoint }: RunningStack): Promise<void> {
  await query(databaseUrl, 'DROP TABLE IF EXISTS kept; CREATE TABLE kept (n int)');
  await sqs(endpoint, 'PurgeQueue', {});
  const object = (key: string) => `${endpoint}/pasteflow/${key}`;
  for (let n = 0; n < 20; n += 1) {
    await sqs(endpoint, 'SendMessage', { MessageBody: `message ${n}` });
    expect((await fetch(object(`object-${n}`), { method: 'PUT', body: `bytes ${n}` })).status).toBe(200);
    await query(databaseUrl, `INSERT INTO kept VALUES (${n})`);
  }
  const [acknowledged, returned] = await receive(endpoint, 600);
  await sqs(endpoint, 'DeleteMessage', { ReceiptHandle: acknowledged?.ReceiptHandle });
  await sqs(endpoint, 'ChangeMessageVisibility', {
    ReceiptHandle: returned?.ReceiptHandle,
    VisibilityTimeout: 0,
  });
  expect((await fetch(object('object-0'), { method: 'DELETE' })).status).toBe(204);
  await query(databaseUrl, 'DELETE FROM kept WHERE n = 0');
}

async function expectFilled({ databaseUrl, endpoint }: RunningStack): Promise<void> {
  expect(await query(databaseUrl, 'SELECT count(*)::int AS rows, min(n) FROM kept')).toEqual([
    { rows: 19, min: 1 },
  ]);
  for (let n = 0; n < 20; n += 1) {
    const response = await fetch(`${endpoint}/pasteflow/object-${n}`);
    expect([response.status, n === 0 || (await response.text())]).toEqual(
      n === 0 ? [404, true] : [200, `bytes ${n}`],
    );
  }
  // Of the first ten messages, one was acknowledged, one was returned, and eight are still invisible.
  const messages = [...(await receive(endpoint, 600)), ...(await receive(endpoint, 600))];
  expect(messages.map(({ Body }) => Number(Body.split(' ')[1])).toSorted((a, b) => a - b)).toEqual([
    1, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
  ]);
  expect(messages.find(({ Body }) => Body === 'message 1')?.Attributes?.ApproximateReceiveCount).toBe('2');
}

describe('npm run stack', () => {
  it('stops on one or several SIGINT with exit code 0, and leaves no process and no stack.env', async () => {
    const { stack, postmaster } = await startRunning();
    stack.kill('SIGINT');
    stack.kill('SIGINT');
    await stack.waitFor(/stopping/);
    stack.kill('SIGINT');
    expect(await stack.exited).toEqual({ code: 0, signal: null });
    expect(isAlive(postmaster)).toBe(false);
    expect(existsSync(join(dataDir, 'stack.env'))).toBe(false);
  });

  it('keeps rows, messages and objects when it is killed', async () => {
    const first = await startRunning();
    await fill(first);
    first.stack.kill('SIGKILL');
    await first.stack.exited;
    await expectFilled(await startRunning());
  });

  it('keeps rows, messages and objects when it is killed together with Postgres', async () => {
    const first = await startRunning();
    await fill(first);
    process.kill(first.postmaster, 'SIGKILL');
    first.stack.kill('SIGKILL');
    await first.stack.exited;
    await expectFilled(await startRunning());
  });

  it('ends the Postgres of a stack that was killed on a machine without setpriv', async () => {
    const PATH = pathWithOnly(join(dataDir, 'bin'), ['unshare', 'true', 'test', 'sh']); // no setpriv
    const first = await startRunning({ PATH });
    await fill(first);
    first.stack.kill('SIGKILL');
    await first.stack.exited;
    expect(isAlive(first.postmaster)).toBe(true);
    await expectFilled(await startRunning());
    await until(() => !isAlive(first.postmaster));
  });

  it('restarts Postgres when only Postgres is killed', async () => {
    const first = await startRunning();
    await query(first.databaseUrl, 'CREATE TABLE alive AS SELECT 1 AS one');
    process.kill(first.postmaster, 'SIGKILL');
    await first.stack.waitFor(/Postgres ended unexpectedly/);
    await until(() => query(first.databaseUrl, 'SELECT 1').then(Boolean, () => false));
    expect(await query(first.databaseUrl, 'SELECT one FROM alive')).toEqual([{ one: 1 }]);
  });

  it('refuses a data folder in use with one sentence, and leaves the other stack running', async () => {
    const first = await startRunning();
    const second = start();
    expect((await second.exited).code).toBe(1);
    expect(second.stderr).toEqual([
      expect.stringMatching(
        new RegExp(`^The data folder .* is in use by process ${first.stack.pid}, since .*[.]$`),
      ),
    ]);
    expect(await query(first.databaseUrl, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(existsSync(join(dataDir, 'stack.env'))).toBe(true);
  });

  it('names every invalid setting in one sentence', async () => {
    const stack = start({ STACK_POSTGRES_PORT: 'x', STACK_AWS_PORT: '65536' });
    expect((await stack.exited).code).toBe(1);
    expect(stack.stderr).toEqual([
      expect.stringMatching(/STACK_POSTGRES_PORT is "x".*STACK_AWS_PORT is "65536"/),
    ]);
  });

  it('starts only what the environment does not name, and says so when it names all', async () => {
    const DATABASE_URL = 'postgres://127.0.0.1:1/another';
    const stack = start({ DATABASE_URL });
    await stack.waitFor(/Ctrl-C stops/);
    expect(stack.stdout).toContainEqual(
      expect.stringMatching(/^Postgres +not started, because DATABASE_URL is set$/),
    );
    expect(parseEnv(readFileSync(join(dataDir, 'stack.env'), 'utf8'))).not.toHaveProperty('DATABASE_URL');
    const nothing = start({ DATABASE_URL, AWS_ENDPOINT_URL: 'http://127.0.0.1:1' });
    expect((await nothing.exited).code).toBe(1);
    expect(nothing.stderr).toEqual([expect.stringMatching(/^There is nothing to run/)]);
  });

  it('stops the parts that it has started when another part cannot start', async () => {
    const first = await startRunning();
    const { port } = new URL(first.endpoint);
    const other = join(dataDir, 'other');
    const second = start({ STACK_AWS_PORT: port, PASTEFLOW_DATA_DIR: other });
    expect((await second.exited).code).toBe(1);
    expect(second.stderr).toEqual([expect.stringMatching(new RegExp(`^Port ${port} .* set STACK_AWS_PORT`))]);
    expect(existsSync(join(other, 'postgres/cluster/postmaster.pid'))).toBe(false);
    expect(existsSync(join(other, 'stack.env'))).toBe(false);
  });
});

// Only root has these cases, because Postgres refuses to run as root.
(process.getuid?.() === 0 ? describe : describe.skip)(
  'npm run stack as root, without user namespaces',
  () => {
    const PATH = pathWithOnly(join(dataDir, 'without-unshare'), ['setpriv', 'true', 'test', 'sh']);

    it('runs Postgres as a plain uid on a folder that root has used, and as root again', async () => {
      const first = await startRunning();
      await fill(first);
      expect(await first.stack.stop()).toEqual({ code: 0, signal: null });
      chmodSync(dataDir, 0o755);
      const second = await startRunning({ PATH });
      expect(statSync(join(dataDir, 'postgres/cluster/PG_VERSION')).uid).toBe(65_534);
      await expectFilled(second);
      await second.stack.stop();
      const third = await startRunning();
      expect(await query(third.databaseUrl, 'SELECT count(*)::int AS rows FROM kept')).toEqual([
        { rows: 19 },
      ]);
    });

    it('names the uid that cannot access the data folder in one sentence', async () => {
      chmodSync(dataDir, 0o700);
      const stack = start({ PATH, PASTEFLOW_DATA_DIR: join(dataDir, 'private') });
      expect((await stack.exited).code).toBe(1);
      expect(stack.stderr).toEqual([
        expect.stringMatching(
          /^Postgres refuses to run as root, and as uid 65534, .* can't reach .*set DATABASE_URL.*[.]$/,
        ),
      ]);
    });
  },
);
