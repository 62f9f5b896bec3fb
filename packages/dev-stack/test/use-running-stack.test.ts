import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hintAfter, useRunningStack } from '../src/commands/use-running-stack.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'pasteflow-test-'));
const file = join(dataDir, 'stack.env');
const server = createServer((socket) => socket.destroy());
beforeAll((done) => void server.listen(0, '127.0.0.1', () => done()));
afterAll(() => {
  server.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const address = () => `127.0.0.1:${(server.address() as AddressInfo).port}`;
const postgres = () => ({ DATABASE_URL: `postgres://x@${address()}/pasteflow` });
const aws = () => ({
  AWS_ENDPOINT_URL: `http://${address()}`,
  AWS_ACCESS_KEY_ID: 'pasteflow',
  JOB_QUEUE_NAME: 'jobs',
});

function stackHas(environment: Record<string, string>): void {
  const lines = Object.entries(environment).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(file, lines.join(''));
}

/** @returns the environment afterwards, and the result of useRunningStack */
async function use(
  given: Record<string, string>,
  parts: readonly ('postgres' | 'aws')[] = ['postgres', 'aws'],
) {
  const env: Record<string, string | undefined> = { PASTEFLOW_DATA_DIR: dataDir, ...given };
  const stack = await useRunningStack(env, parts);
  const { PASTEFLOW_DATA_DIR: _, ...rest } = env;
  return { env: rest, stack };
}

beforeEach(() => rmSync(file, { force: true }));

describe('a command of an operator', () => {
  it('uses all parts of the running stack when its environment names none', async () => {
    stackHas({ ...postgres(), ...aws() });
    const { env, stack } = await use({ AWS_PROFILE: 'mine', AWS_SESSION_TOKEN: 'mine', DATABASE_URL: ' ' });
    expect(env).toEqual({ ...postgres(), ...aws() });
    expect(stack).toEqual({ kind: 'used', file, missing: [], answers: true });
  });

  it('uses only the parts of the running stack that it needs', async () => {
    stackHas({ ...postgres(), ...aws() });
    const { env } = await use({ AWS_PROFILE: 'mine', AWS_ENDPOINT_URL: 'http://another' }, ['postgres']);
    expect(env).toEqual({ ...postgres(), AWS_PROFILE: 'mine', AWS_ENDPOINT_URL: 'http://another' });
  });

  it.each([
    { DATABASE_URL: 'postgres://another' },
    { AWS_ENDPOINT_URL: 'http://another' },
    { AWS_ENDPOINT_URL_SQS: 'http://another' },
    { PASTEFLOW_STACK: 'aws' },
  ])('uses nothing of a running stack when the environment names another address: %j', async (given) => {
    stackHas({ ...postgres(), ...aws() });
    const { env, stack } = await use(given);
    expect([env, stack]).toEqual([given, { kind: 'another-system', file }]);
    expect(hintAfter(78, stack)).toContain('environment names a part of another system');
  });

  it('uses the other part of the running stack beside a Postgres or an AWS endpoint of the operator', async () => {
    stackHas(aws());
    const own = { DATABASE_URL: 'postgres://own' };
    expect((await use(own)).env).toEqual({ ...own, ...aws() });
    stackHas(postgres());
    const endpoint = { AWS_ENDPOINT_URL: 'http://own', AWS_PROFILE: 'own' };
    expect((await use(endpoint)).env).toEqual({ ...endpoint, ...postgres() });
  });

  it('does not change an environment that names both parts', async () => {
    stackHas({ ...postgres(), ...aws() });
    const given = { DATABASE_URL: 'postgres://own', PASTEFLOW_STACK: 'aws' };
    expect(await use(given)).toEqual({ env: given, stack: { kind: 'named' } });
  });
});

describe('the hint after a command', () => {
  it('says how to start a stack when a setting is missing and none is running', async () => {
    const { env, stack } = await use({});
    expect([env, stack]).toEqual([{}, { kind: 'no-stack', file }]);
    expect(hintAfter(78, stack)).toContain(`${file}): start one with \`npm start\``);
    for (const code of [0, 1, 64]) expect(hintAfter(code, stack)).toBe('');
  });

  it('names the variable of a part that the running stack does not have', async () => {
    stackHas(aws());
    expect(hintAfter(78, (await use({})).stack)).toContain('no Postgres: set DATABASE_URL as you did');
    stackHas(postgres());
    expect(hintAfter(78, (await use({})).stack)).toContain('no S3 and SQS: set AWS_ENDPOINT_URL');
  });

  it('asks whether the stack is still running only if the stack does not answer', async () => {
    stackHas(postgres());
    expect(hintAfter(1, (await use({}, ['postgres'])).stack)).toBe('');
    stackHas({ DATABASE_URL: 'postgres://x@127.0.0.1:1/pasteflow' });
    const { stack } = await use({}, ['postgres']);
    expect(hintAfter(1, stack)).toContain('is `npm start` still running?');
    expect(hintAfter(0, stack)).toBe('');
  });
});
