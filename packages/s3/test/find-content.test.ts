import { createHash } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { FaultProxy, startTestAws, type TestAws } from '@pasteflow/dev-stack/testing';
import { objectBytes } from '../src/find-content.ts';
import { createObjectStore, type ObjectStore } from '../src/index.ts';

let stack: TestAws;
let proxy: FaultProxy;
let store: ObjectStore;

beforeAll(async () => {
  process.env.AWS_ACCESS_KEY_ID = 'test';
  process.env.AWS_SECRET_ACCESS_KEY = 'test';
  stack = await startTestAws();
  proxy = await FaultProxy.start(stack.aws.endpoint);
  store = createObjectStore({
    region: 'us-east-1',
    endpoint: proxy.url,
    bucket: 'pasteflow',
    maxAttempts: 1,
    requestTimeoutMs: 60_000,
  });
});
afterEach(() => proxy.clear());
afterAll(async () => {
  store?.close();
  await proxy?.stop();
  await stack?.stop();
});

const sha256 = (content: Buffer) => createHash('sha256').update(content).digest();

async function put(content: Buffer, encoding: 'gzip' | null = null): Promise<void> {
  await store.put('pastes/x', content, { sha256: sha256(content), encoding });
}

const content = Buffer.alloc(5000, 'text');
const find = (sizeBytes = content.length, of = content) =>
  store.findContent('pastes/x', { sizeBytes, sha256: sha256(of), signal: new AbortController().signal });

it('finds exactly this content, compressed or not, by whatever compressor', async () => {
  await put(content);
  expect(await find()).toEqual({ encoding: null, bytes: 5000 });
  for (const level of [1, 9]) {
    const object = gzipSync(content, { level });
    await put(object, 'gzip');
    expect(await find()).toEqual({ encoding: 'gzip', bytes: object.length });
  }
});

it('finds no other content, no damaged object and no bomb', async () => {
  const objects = [
    gzipSync(Buffer.alloc(5000, 'TEXT')),
    gzipSync(content.subarray(1)),
    gzipSync(content).subarray(0, -1),
    gzipSync(Buffer.alloc(32 * 1024 * 1024)),
    content,
  ];
  for (const object of objects) {
    await put(object, 'gzip');
    expect(await find()).toBeNull();
  }
  await put(Buffer.alloc(5000, 'TEXT'));
  expect(await find()).toBeNull();
  await put(gzipSync(content));
  expect(await find()).toBeNull();
  await store.deleteMany(['pastes/x']);
  expect(await find()).toBeNull();
});

it('throws when S3 ends the object too early, because that says nothing of the object', async () => {
  const object = gzipSync(Buffer.from(Array.from({ length: 90_000 }, (_, n) => n).join(' ')));
  await put(object, 'gzip');
  proxy.rule({ method: 'GET' }, { kind: 'drop' });
  await expect(find()).rejects.toMatchObject({ code: 'dependency_unavailable' });
});

describe.each([null, 'gzip'] as const)('a body with the encoding %j that stops', (encoding) => {
  const expected = { sizeBytes: content.length, sha256: sha256(content) };
  const stopped = () => {
    const body = new PassThrough();
    body.write((encoding === null ? content : gzipSync(content)).subarray(0, 15));
    return body;
  };

  it('is destroyed when no piece has come for the time given', async () => {
    const body = stopped();
    await expect(objectBytes(body, encoding, expected, 20)).rejects.toThrow('S3 stopped sending the object.');
    expect(body.destroyed).toBe(true);
  });

  it('is destroyed when the signal aborts', async () => {
    const body = stopped();
    const stop = new AbortController();
    const reading = objectBytes(body, encoding, { ...expected, signal: stop.signal });
    stop.abort();
    await expect(reading).rejects.toThrow(/abort/);
    expect(body.destroyed).toBe(true);
  });
});
