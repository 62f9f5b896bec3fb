import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { FaultProxy, startTestAws, type TestAws } from '@pasteflow/dev-stack/testing';
import { createObjectStore, describeS3Error, reasonOfS3Error, type ObjectStore } from '../src/index.ts';

let stack: TestAws;
let proxy: FaultProxy;
let store: ObjectStore;
const opened: ObjectStore[] = [];

beforeAll(async () => {
  process.env.AWS_ACCESS_KEY_ID = 'test';
  process.env.AWS_SECRET_ACCESS_KEY = 'test';
  stack = await startTestAws();
  proxy = await FaultProxy.start(stack.aws.endpoint);
});

afterEach(() => {
  proxy.clear();
  proxy.requests.length = 0;
  for (const each of opened.splice(0)) each.close();
});

afterAll(async () => {
  await proxy?.stop();
  await stack?.stop();
});

function open(options: Partial<Parameters<typeof createObjectStore>[0]> = {}): ObjectStore {
  const made = createObjectStore({
    region: 'us-east-1',
    endpoint: proxy.url,
    bucket: 'pasteflow',
    maxAttempts: 1,
    requestTimeoutMs: 5000,
    ...options,
  });
  opened.push(made);
  return made;
}

const sha256 = (content: Buffer) => createHash('sha256').update(content).digest();

async function put(key: string, content: Buffer, signal?: AbortSignal): Promise<void> {
  await store.put(key, content, { sha256: sha256(content), ...(signal && { signal }) });
}

/** The SDK asks whether an error is an `instanceof Error`, which in Jest's context is false for the errors of Node itself. */
Object.defineProperty(Error, Symbol.hasInstance, {
  value(this: unknown, error: unknown): boolean {
    return this === Error ? Error.isError(error) : Function.prototype[Symbol.hasInstance].call(this, error);
  },
});

describe.each(['direct', 'sdk'] as const)('with %s requests', (requests) => {
  beforeEach(() => {
    store = open({ requests });
  });

  describe('getting an object', () => {
    it.each([1, 45_057, 3 * 1024 * 1024])(
      'returns %i bytes unchanged after one put request',
      async (size) => {
        const content = Buffer.alloc(size, 'ab\0\xff', 'latin1');
        await put('pastes/x', content);
        expect(proxy.matching({ method: 'PUT' })).toHaveLength(1);
        const object = await store.get('pastes/x');
        expect(object?.contentLength).toBe(size);
        expect((await buffer(object!.body)).equals(content)).toBe(true);
      },
    );

    it('returns a range', async () => {
      await put('pastes/x', Buffer.from('0123456789'));
      const object = await store.get('pastes/x', { range: { start: 2, end: 4 } });
      expect(object?.contentLength).toBe(3);
      expect((await buffer(object!.body)).toString()).toBe('234');
    });

    it('tells how the object is compressed, and leaves it so', async () => {
      const object = gzipSync(Buffer.alloc(5000, 'text'));
      await store.put('pastes/x', object, { sha256: sha256(object), encoding: 'gzip' });
      for (const each of [store, open({ requests: requests === 'direct' ? 'sdk' : 'direct' })]) {
        const whole = await each.get('pastes/x');
        expect(whole).toMatchObject({ encoding: 'gzip', isPart: false, contentLength: object.length });
        expect((await buffer(whole!.body)).equals(object)).toBe(true);
        const part = await each.get('pastes/x', { range: { start: 0, end: 3 } });
        expect(part).toMatchObject({ encoding: 'gzip', isPart: true, contentLength: 4 });
        await buffer(part!.body);
      }
      await put('pastes/x', Buffer.from('text'));
      const plain = await store.get('pastes/x');
      expect(plain).toMatchObject({ encoding: null, isPart: false });
      await buffer(plain!.body);
    });

    it('returns the whole object when it is shorter than the range requires', async () => {
      await put('pastes/x', Buffer.from('short'));
      const object = await store.get('pastes/x', { range: { start: 100, end: 200 } });
      expect(object).toMatchObject({ isPart: false, contentLength: 5 });
      expect((await buffer(object!.body)).toString()).toBe('short');
    });

    it('returns null for a missing object', async () => {
      expect(await store.get('pastes/none')).toBeNull();
    });

    it.each(['a b+c', "quotes'(1)!*~", 'ä/€/😀', 'per%20cent%', 'a=b&c?d#e', 'a//b', 'jobs/x/archive.zip'])(
      'finds the key %p',
      async (key) => {
        await put(key, Buffer.from(key));
        const [path] = proxy.matching({ method: 'PUT' }).map((request) => request.path);
        const object = await store.get(key);
        expect((await buffer(object!.body)).toString()).toBe(key);
        const other = open({ requests: requests === 'direct' ? 'sdk' : 'direct' });
        const same = await other.get(key);
        expect((await buffer(same!.body)).toString()).toBe(key);
        expect(proxy.matching({ method: 'GET' }).map((request) => request.path.split('?')[0])).toEqual([
          path!.split('?')[0],
          path!.split('?')[0],
        ]);
      },
    );

    it('is repeated up to maxAttempts when S3 fails, and not when it refuses', async () => {
      const patient = open({ requests, maxAttempts: 2 });
      await put('pastes/x', Buffer.from('x'));
      for (const fault of [
        { kind: 'fail', status: 500 },
        { kind: 'fail', status: 503 },
        { kind: 'drop' },
      ] as const) {
        proxy.rule({ method: 'GET' }, fault, 1);
        const object = await patient.get('pastes/x');
        expect((await buffer(object!.body)).toString()).toBe('x');
      }
      expect(proxy.matching({ method: 'GET' })).toHaveLength(6);
      proxy.rule({ method: 'GET' }, { kind: 'fail', status: 500 });
      await expect(patient.get('pastes/x')).rejects.toMatchObject({ code: 'dependency_unavailable' });
      expect(proxy.matching({ method: 'GET' })).toHaveLength(8);
      proxy.clear();
      proxy.rule({ method: 'GET' }, { kind: 'fail', status: 403 });
      await expect(patient.get('pastes/x')).rejects.toMatchObject({ code: 'dependency_unavailable' });
      expect(proxy.matching({ method: 'GET' })).toHaveLength(9);
    });

    it('ends a body that nobody listens to without an error of the process', async () => {
      await put('pastes/x', Buffer.alloc(3 * 1024 * 1024));
      const object = await store.get('pastes/x');
      object!.body.destroy();
      await new Promise((resolve) => object!.body.once('close', resolve));
      expect((await store.get('pastes/x'))?.contentLength).toBe(3 * 1024 * 1024);
    });

    it('waits for one of maxSockets connections, and is not sent when it is aborted meanwhile', async () => {
      const narrow = open({ requests, maxSockets: 2, requestTimeoutMs: 60_000 });
      await put('pastes/x', Buffer.alloc(3 * 1024 * 1024));
      const unread = [await narrow.get('pastes/x'), await narrow.get('pastes/x')];
      const abort = new AbortController();
      const aborted = narrow.get('pastes/x', { signal: abort.signal });
      const waiting = narrow.get('pastes/x');
      await new Promise((resolve) => setTimeout(resolve, 50)); // enough to send them, if nothing kept them back
      abort.abort();
      await expect(aborted).rejects.toMatchObject({ cause: { name: 'AbortError' } });
      expect(proxy.matching({ method: 'GET' })).toHaveLength(2);
      for (const object of unread) object!.body.destroy();
      expect((await buffer((await waiting)!.body)).length).toBe(3 * 1024 * 1024);
      expect(proxy.matching({ method: 'GET' })).toHaveLength(3);
    });

    it('ends the body when the signal aborts', async () => {
      await put('pastes/x', Buffer.alloc(3 * 1024 * 1024));
      const abort = new AbortController();
      const object = await store.get('pastes/x', { signal: abort.signal });
      abort.abort();
      await expect(buffer(object!.body)).rejects.toThrow();
    });
  });

  describe('a put', () => {
    it('is not retried by the client', async () => {
      proxy.rule({ method: 'PUT' }, { kind: 'fail', status: 500 });
      const failure = await put('pastes/x', Buffer.from('x')).catch((error: unknown) => error);
      expect(describeS3Error(failure)).toMatch(/^S3 answered 500 /);
      expect(proxy.matching({ method: 'PUT' })).toHaveLength(1);
    });

    it.each([
      [{ kind: 'fail', status: 503 }, /^storage unavailable: S3 answered 503 SlowDown$/],
      [{ kind: 'fail', status: 403 }, /^storage refused: S3 answered 403 /],
      [{ kind: 'drop' }, /^storage unavailable: S3 did not answer: ECONNRESET$/],
    ] as const)('that ends with %j has a reason for the owner', async (fault, reason) => {
      proxy.rule({ method: 'PUT' }, fault);
      const failure = await put('pastes/x', Buffer.from('x')).catch((error: unknown) => error);
      expect(reasonOfS3Error(failure)).toMatch(reason);
    });

    it('has a reason for the owner when no connection is made', async () => {
      await proxy.down();
      try {
        const failure = await put('pastes/x', Buffer.from('x')).catch((error: unknown) => error);
        expect(reasonOfS3Error(failure)).toBe('storage unavailable: S3 did not answer: ECONNREFUSED');
      } finally {
        await proxy.up();
      }
    });

    it('fails when S3 does not answer in time', async () => {
      proxy.rule({ method: 'PUT' }, { kind: 'hang' });
      const impatient = open({ requests, requestTimeoutMs: 200 });
      const content = Buffer.from('x');
      const failure = await impatient
        .put('pastes/x', content, { sha256: sha256(content) })
        .catch((error: unknown) => error);
      expect(describeS3Error(failure)).toBe('S3 did not answer: ETIMEDOUT');
    });

    it('closes its connection to S3 when it is aborted', async () => {
      const abort = new AbortController();
      const held = proxy.hold({ method: 'PUT' });
      const putting = put('pastes/x', Buffer.from('x'), abort.signal).catch((error: unknown) => error);
      const { request } = await held;
      abort.abort();
      expect(await putting).toMatchObject({ name: 'AbortError' });
      const deadline = performance.now() + 60_000;
      while (!request.aborted && performance.now() < deadline)
        await new Promise((resolve) => setTimeout(resolve, 10));
      expect(request.aborted).toBe(true);
    });

    it('is not sent when its signal was aborted before', async () => {
      const putting = put('pastes/x', Buffer.from('x'), AbortSignal.abort());
      await expect(putting).rejects.toMatchObject({ name: 'AbortError' });
      expect(proxy.requests).toHaveLength(0);
    });
  });

  it('gets and pings end with a typed error when S3 does not answer', async () => {
    proxy.rule({}, { kind: 'drop' });
    const expected = { code: 'dependency_unavailable', dependency: 's3' };
    await expect(store.get('pastes/x')).rejects.toMatchObject(expected);
    await expect(store.ping()).rejects.toMatchObject(expected);
  });
});

describe('other requests', () => {
  beforeEach(() => {
    store = open();
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
});
