import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { FaultProxy, startTestAws, type TestAws } from '@pasteflow/dev-stack/testing';
import { createObjectStore, describeS3Error, type ObjectStore } from '../src/index.ts';

let stack: TestAws;
let proxy: FaultProxy;
let store: ObjectStore;

beforeAll(async () => {
  process.env.AWS_ACCESS_KEY_ID = 'test';
  process.env.AWS_SECRET_ACCESS_KEY = 'test';
  stack = await startTestAws();
  proxy = await FaultProxy.start(stack.aws.endpoint);
  store = open(5000);
});

afterEach(() => {
  proxy.clear();
  proxy.requests.length = 0;
});

afterAll(async () => {
  store?.close();
  await proxy?.stop();
  await stack?.stop();
});

function open(requestTimeoutMs: number): ObjectStore {
  return createObjectStore({
    region: 'us-east-1',
    endpoint: proxy.url,
    bucket: 'pasteflow',
    maxAttempts: 1,
    requestTimeoutMs,
  });
}

const sha256 = (content: Buffer) => createHash('sha256').update(content).digest();

async function put(key: string, content: Buffer, signal?: AbortSignal): Promise<void> {
  await store.put(key, content, { sha256: sha256(content), ...(signal && { signal }) });
}

describe('getting an object', () => {
  it.each([1, 45_057, 3 * 1024 * 1024])('returns %i bytes unchanged after one put request', async (size) => {
    const content = Buffer.alloc(size, 'ab\0\xff', 'latin1');
    await put('pastes/x', content);
    expect(proxy.matching({ method: 'PUT' })).toHaveLength(1);
    const object = await store.get('pastes/x');
    expect(object?.contentLength).toBe(size);
    expect((await buffer(object!.body)).equals(content)).toBe(true);
  });

  it('returns a range', async () => {
    await put('pastes/x', Buffer.from('0123456789'));
    const object = await store.get('pastes/x', { range: { start: 2, end: 4 } });
    expect(object?.contentLength).toBe(3);
    expect((await buffer(object!.body)).toString()).toBe('234');
  });

  it('returns null for a missing object', async () => {
    expect(await store.get('pastes/none')).toBeNull();
  });
});

describe('a put', () => {
  it('is not retried by the client', async () => {
    proxy.rule({ method: 'PUT' }, { kind: 'fail', status: 500 });
    const failure = await put('pastes/x', Buffer.from('x')).catch((error: unknown) => error);
    expect(describeS3Error(failure)).toMatch(/^S3 answered 500 /);
    expect(proxy.matching({ method: 'PUT' })).toHaveLength(1);
  });

  it('fails when S3 does not answer in time', async () => {
    proxy.rule({ method: 'PUT' }, { kind: 'hang' });
    const impatient = open(200);
    const content = Buffer.from('x');
    const failure = await impatient
      .put('pastes/x', content, { sha256: sha256(content) })
      .catch((error: unknown) => error);
    expect(describeS3Error(failure)).toMatch(/^S3 did not answer/);
    impatient.close();
  });

  it('closes its connection to S3 when it is aborted', async () => {
    const abort = new AbortController();
    const held = proxy.hold({ method: 'PUT' });
    const putting = put('pastes/x', Buffer.from('x'), abort.signal).catch((error: unknown) => error);
    const { request } = await held;
    abort.abort();
    expect(await putting).toMatchObject({ name: 'AbortError' });
    const deadline = performance.now() + 5000;
    while (!request.aborted && performance.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 10));
    expect(request.aborted).toBe(true);
  });
});

describe('deleting many objects', () => {
  it('deletes 1000 keys in one request, including missing ones', async () => {
    await put('pastes/x', Buffer.from('x'));
    const keys = ['pastes/x', ...Array.from({ length: 999 }, (_, n) => `pastes/none${n}`)];
    expect(await store.deleteMany(keys)).toEqual([]);
    expect(proxy.matching({ method: 'POST', path: /delete/ })).toHaveLength(1);
    expect(await store.get('pastes/x')).toBeNull();
  });

  it('rejects more keys than S3 would accept', async () => {
    await expect(store.deleteMany(Array.from({ length: 1001 }, (_, n) => `k${n}`))).rejects.toThrow(
      RangeError,
    );
  });

  it('makes no request for an empty list', async () => {
    expect(await store.deleteMany([])).toEqual([]);
    expect(proxy.requests).toHaveLength(0);
  });
});

describe('listing', () => {
  it('yields every object under a prefix in key order, in pages', async () => {
    const keys = Array.from({ length: 1003 }, (_, n) => `list/${String(n).padStart(4, '0')}`);
    for (let start = 0; start < keys.length; start += 50) {
      await Promise.all(keys.slice(start, start + 50).map((key) => put(key, Buffer.from('x'))));
    }
    const pages = [];
    for await (const page of store.list('list/')) pages.push(page.map(({ key }) => key));
    expect(pages.map((page) => page.length)).toEqual([1000, 3]);
    expect(pages.flat()).toEqual(keys);
  });
});

describe('an S3 that does not answer', () => {
  it('causes a typed error in get, delete and ping', async () => {
    proxy.rule({}, { kind: 'drop' });
    const expected = { code: 'dependency_unavailable', dependency: 's3' };
    await expect(store.get('pastes/x')).rejects.toMatchObject(expected);
    await expect(store.deleteMany(['pastes/x'])).rejects.toMatchObject(expected);
    await expect(store.ping()).rejects.toMatchObject(expected);
    await expect(store.list('x').next()).rejects.toMatchObject(expected);
  });
});
