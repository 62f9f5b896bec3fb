import { afterAll, afterEach, describe, expect, it, jest } from '@jest/globals';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import {
  spawnCommand,
  spawnService,
  startTestStack,
  temporaryFolder,
  type SpawnedProcess,
  UNSAFE_POSTGRES,
} from '../src/testing/index.ts';
import { childrenOf, isAlive } from './processes.ts';
import { until } from '../src/testing/until.ts';

jest.setTimeout(240_000); // some tests start everything twice

const entry = new URL('../src/start-main.ts', import.meta.url).pathname;
const { dataDir, remove } = await temporaryFolder();
let started: SpawnedProcess[] = [];
afterEach(async () => {
  for (const service of started) await service.stop();
  started = [];
});
afterAll(remove);

type Environment = Record<string, string>;

function start(env: Environment = {}): SpawnedProcess {
  const ports = { STACK_POSTGRES_PORT: '0', STACK_AWS_PORT: '0', API_PORT: '0', METRICS_PORT: '0' };
  const all = { PASTEFLOW_DATA_DIR: dataDir, ALLOW_POSTGRES_TO_LOSE_DATA: '', ...ports, ...env };
  const service = spawnService({ entry, env: all, name: 'npm start' });
  started.push(service);
  return service;
}

async function startRunning(env?: Environment): Promise<{ main: SpawnedProcess; url: string }> {
  const main = start(env);
  const [, url] = await main.waitFor(/Pasteflow is running at (http:\S+)/);
  return { main, url: url as string };
}

const create = async (url: string, content: string) => {
  const response = await fetch(`${url}/`, { method: 'POST', body: content });
  expect(response.status).toBe(201);
  return new URL((await response.text()).trim()).pathname;
};

/** Repeats the request, as curl --retry does, while the answer is 503: the upload is in progress. */
async function read(url: string): Promise<string> {
  let response = await fetch(url);
  await until(async () => {
    if (response.status === 503) response = await fetch(url);
    return response.status !== 503;
  });
  expect(response.status).toBe(200);
  return response.text();
}

/** The token that npm start prints. */
const tokenOf = async (main: SpawnedProcess) => (await main.waitFor(/^ +(pf_[\w-]{43})$/))[1] as string;

const listWith = (url: string, token: string) =>
  fetch(`${url}/v1/pastes`, { headers: { authorization: `Bearer ${token}` } });

describe('npm start', () => {
  it('serves pastes, keeps them when every process is killed, and leaves no process after a stop', async () => {
    const first = await startRunning();
    const paths = [await create(first.url, 'before the kill')];
    expect(await read(first.url + paths[0])).toBe('before the kill');
    paths.push(await create(first.url, 'just before the kill'));
    const page = await fetch(first.url, { headers: { accept: 'text/html' } });
    expect(await page.text()).not.toContain('/.dev/'); // what npm run dev adds
    const [, operations] = await first.main.waitFor(/^Operators see .* at (http:[^,]+:\d+), without/);
    expect(await (await fetch(operations!)).text()).toContain('<h1>Overview</h1>');
    const token = await tokenOf(first.main);
    expect((await listWith(first.url, token)).status).toBe(200);
    const children = childrenOf(first.main.pid);
    for (const pid of [first.main.pid, ...children]) process.kill(pid, 'SIGKILL');
    await first.main.exited;
    await until(() => children.every((pid) => !isAlive(pid)));

    const second = await startRunning();
    expect(await read(second.url + paths[0])).toBe('before the kill');
    expect(await read(second.url + paths[1])).toBe('just before the kill');
    expect(await tokenOf(second.main)).toBe(token);
    const curl = second.main.stdout.find((line) => line.includes('curl -H'));
    expect(curl).toBe(`  curl -H 'Authorization: Bearer ${token}' ${second.url}/v1/pastes`);
    expect((await listWith(second.url, token)).status).toBe(200);
    expect(statSync(join(dataDir, 'dev-token')).mode & 0o777).toBe(0o600);
    const inLogs = [...second.main.stdout, ...second.main.stderr].filter((line) => line.includes(token));
    expect(inLogs).toHaveLength(2); // on a line of its own, and in the curl line
    const others = childrenOf(second.main.pid);
    second.main.kill('SIGINT');
    second.main.kill('SIGINT');
    expect(await second.main.exited).toEqual({ code: 0, signal: null });
    expect(others.filter((pid) => isAlive(pid))).toEqual([]);
    expect(existsSync(join(dataDir, 'stack.env'))).toBe(false);
  });

  it('serves the database that npm run token uses by default, and leaves no process when its own is killed', async () => {
    const { main, url } = await startRunning();
    const command = spawnCommand('token', ['alice'], { PASTEFLOW_DATA_DIR: dataDir });
    expect((await command.exited).code).toBe(0);
    expect((await listWith(url, command.stdout[0] as string)).status).toBe(200);

    const children = childrenOf(main.pid);
    main.kill('SIGKILL');
    await main.exited;
    await until(() => children.every((pid) => !isAlive(pid)));
  });

  it('uses the Postgres and the AWS endpoint of the environment, and starts no others', async () => {
    const stack = await startTestStack();
    try {
      const own = join(dataDir, 'unused');
      const { main, url } = await startRunning({
        ...UNSAFE_POSTGRES,
        DATABASE_URL: stack.postgres.url,
        AWS_ENDPOINT_URL: stack.aws.endpoint,
        AWS_ACCESS_KEY_ID: 'test',
        AWS_SECRET_ACCESS_KEY: 'test',
        PASTEFLOW_DATA_DIR: own,
      });
      expect(await read(url + (await create(url, 'elsewhere')))).toBe('elsewhere');
      expect(readdirSync(own)).toEqual(['dev-token']); // no Postgres and no emulator
      expect((await listWith(url, await tokenOf(main))).status).toBe(200);
      expect((await main.stop()).code).toBe(0);
    } finally {
      await stack.stop();
    }
  });

  it('names a port that is in use before it starts anything', async () => {
    const blocker = createServer().listen(0, '127.0.0.1').unref();
    await until(() => blocker.listening);
    const port = String((blocker.address() as AddressInfo).port);
    for (const setting of ['API_PORT', 'METRICS_PORT']) {
      const main = start({ [setting]: port });
      expect((await main.exited).code).toBe(1);
      expect(main.stderr).toEqual([
        expect.stringMatching(new RegExp(`^Port ${port} .* set ${setting} .*[.]$`)),
      ]);
      expect(main.stdout).toEqual([]);
    }
    blocker.close();
  });

  it('stops everything that it started, and exits with 1, when a service cannot start', async () => {
    const main = start({ UPLOAD_CONCURRENCY: 'many' });
    expect((await main.exited).code).toBe(1);
    expect(main.stderr.at(-1)).toMatch(/^upload-worker ended with code 78 before it was ready[.] .*[.]$/);
    expect(existsSync(join(dataDir, 'postgres/cluster/postmaster.pid'))).toBe(false);
  });
});
