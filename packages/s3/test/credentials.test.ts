import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createS3Client } from '../src/client.ts';

const NAMES = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'AWS_PROFILE'] as const;
const before = Object.fromEntries(NAMES.map((name) => [name, process.env[name]]));
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pasteflow-credentials-'));
  process.env.AWS_SHARED_CREDENTIALS_FILE = join(folder, 'credentials');
  for (const name of NAMES) delete process.env[name];
});
afterEach(async () => {
  jest.useRealTimers();
  delete process.env.AWS_SHARED_CREDENTIALS_FILE;
  for (const name of NAMES) if (before[name] !== undefined) process.env[name] = before[name];
  await rm(folder, { recursive: true });
});

const rotate = (key: string) =>
  writeFile(
    join(folder, 'credentials'),
    `[default]\naws_access_key_id = ${key}\naws_secret_access_key = secret\n`,
  );

it('uses a key that was rotated in its file within half a minute, and the last one while the file is gone', async () => {
  jest.useFakeTimers({
    now: Date.now(),
    doNotFake: ['nextTick', 'setImmediate', 'setTimeout', 'queueMicrotask'],
  });
  await rotate('FIRST');
  const { config } = createS3Client({ region: 'us-east-1', maxAttempts: 1, requestTimeoutMs: 1000 });
  const key = async () => (await config.credentials()).accessKeyId;
  expect(await key()).toBe('FIRST');
  await rotate('SECOND');
  expect(await key()).toBe('FIRST');
  jest.setSystemTime(Date.now() + 31_000);
  expect(await key()).toBe('SECOND');
  await rm(join(folder, 'credentials'));
  jest.setSystemTime(Date.now() + 31_000);
  expect(await key()).toBe('SECOND');
});
