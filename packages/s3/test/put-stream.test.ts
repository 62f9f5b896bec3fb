import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { FaultProxy, startTestAws, until, type TestAws } from '@pasteflow/dev-stack/testing';
import { createObjectStore, type ObjectStore } from '../src/index.ts';

const MIB = 1024 * 1024;
const PART = { method: 'PUT', path: /partNumber=/ };
const BEGIN = { method: 'POST', path: /uploads/ };
const COMPLETE = { method: 'POST', path: /uploadId=/ };
const ABORT = { method: 'DELETE', path: /uploadId=/ };

let stack: TestAws;
let proxy: FaultProxy;
let store: ObjectStore;

beforeAll(async () => {
  process.env.AWS_ACCESS_KEY_ID = 'test';
  process.env.AWS_SECRET_ACCESS_KEY = 'test';
  stack = await startTestAws();
  proxy = await FaultProxy.start(stack.aws.endpoint);
  store = createObjectStore({ ...options(), bucket: 'pasteflow' });
});

const options = () => ({
  region: 'us-east-1',
  endpoint: proxy.url,
  maxAttempts: 1,
  requestTimeoutMs: 60_000,
});

afterEach(async () => {
  proxy.clear();
  for await (const page of store.list('')) await store.deleteMany(page.map(({ key }) => key));
  proxy.requests.length = 0;
});

afterAll(async () => {
  store?.close();
  await proxy?.stop();
  await stack?.stop();
});

/** A stream of `mib` MiB that counts how much of it was read. */
function endless(mib: number): { body: Readable; given: () => number; ended: () => boolean } {
  let given = 0;
  let ended = false;
  async function* pieces(): AsyncGenerator<Buffer> {
    try {
      for (; given < mib * MIB; given += MIB) yield Buffer.alloc(MIB, 'x');
    } finally {
      ended = true;
    }
  }
  return { body: Readable.from(pieces()), given: () => given, ended: () => ended };
}

const put = (body: Readable, signal?: AbortSignal, to = store): Promise<number> =>
  to.putStream('jobs/x', body, { contentType: 'application/zip', ...(signal && { signal }) });

async function openUploads(): Promise<string[]> {
  const keys: string[] = [];
  for await (const page of store.listMultipartUploads('')) keys.push(...page.map(({ key }) => key));
  return keys;
}

describe('storing a stream', () => {
  it.each([0, 1, 8 * MIB, 8 * MIB + 1, 44 * MIB])('stores %i bytes unchanged', async (size) => {
    const content = randomBytes(size);
    const pieces = Array.from({ length: Math.ceil(size / 100_000) }, (_, n) =>
      content.subarray(n * 100_000, (n + 1) * 100_000),
    );
    expect(await put(Readable.from(pieces))).toBe(size);
    const object = await store.get('jobs/x');
    expect((await buffer(object!.body)).equals(content)).toBe(true);
    expect(proxy.matching(PART)).toHaveLength(size > 8 * MIB ? Math.ceil(size / (8 * MIB)) : 0);
    expect(await openUploads()).toEqual([]);
  });

  it('reads the body no faster than S3 accepts it', async () => {
    const { body, given, ended } = endless(200);
    const held = [await heldPart(() => put(body).catch(() => {}))];
    await until(() => proxy.matching(PART).length === 3);
    await new Promise((resolve) => setImmediate(resolve));
    expect(given()).toBeLessThanOrEqual(26 * MIB);
    held[0]?.fail(500);
    await until(ended);
  });

  it('keeps the content type', async () => {
    await put(Readable.from([Buffer.from('x')]));
    const url = await store.presign('jobs/x', { expiresInSeconds: 60, downloadName: 'a.zip' });
    expect((await fetch(url)).headers.get('content-type')).toBe('application/zip');
  });
});

/** Holds the first part for the rest of the test, and makes every other part wait as well. */
async function heldPart(start: () => unknown): Promise<{ fail: (status: number) => void }> {
  proxy.rule(PART, { kind: 'hang' });
  const held = proxy.hold(PART);
  start();
  return await held;
}

describe('parts of an object', () => {
  it('of 8 MiB are assembled to the original content', async () => {
    const content = randomBytes(18 * MIB);
    const pieces = Array.from({ length: 18 }, (_, n) => content.subarray(n * MIB, (n + 1) * MIB));
    const options = { contentType: 'application/zip' };
    expect(await store.putStream('jobs/x', Readable.from(pieces), options)).toBe(content.length);
    const object = await store.get('jobs/x');
    expect((await buffer(object!.body)).equals(content)).toBe(true);
    const sizes = proxy.matching(PART).map(({ bodyBytes }) => bodyBytes / MIB);
    expect(sizes.toSorted((a, b) => a - b)).toEqual([2, 8, 8]);
  });
});

describe('a stream that fails', () => {
  it('rejects with the error of the stream, and leaves nothing in S3', async () => {
    const failure = new Error('the source broke off');
    async function* pieces(): AsyncGenerator<Buffer> {
      for (let n = 0; n < 28; n += 1) yield Buffer.alloc(MIB);
      await until(() => proxy.matching(PART).length === 3);
      throw failure;
    }
    await expect(put(Readable.from(pieces()))).rejects.toBe(failure);
    expect(proxy.matching(ABORT)).toHaveLength(1);
    expect(await openUploads()).toEqual([]);
    expect(await store.get('jobs/x')).toBeNull();
  });

  it.each([
    ['beginning', BEGIN, 0],
    ['a part', PART, 1],
    ['completing', COMPLETE, 1],
  ])(
    'rejects with a typed error when S3 fails at %s, and leaves nothing in S3',
    async (_, request, aborts) => {
      proxy.rule(request, { kind: 'fail', status: 500 }, 1);
      const { body, given, ended } = endless(50);
      await expect(put(body)).rejects.toMatchObject({ code: 'dependency_unavailable', dependency: 's3' });
      expect(ended()).toBe(true);
      if (request !== COMPLETE) expect(given()).toBeLessThan(50 * MIB);
      expect(proxy.matching(ABORT)).toHaveLength(aborts);
      expect(await openUploads()).toEqual([]);
      expect(await store.get('jobs/x')).toBeNull();
    },
  );

  it('rejects with an error from before the first read, without any request to S3', async () => {
    const failure = new Error('never began');
    const body = new Readable({ read: () => body.destroy(failure) });
    await expect(put(body)).rejects.toBe(failure);
    expect(proxy.requests).toHaveLength(0);
  });
});

describe('a stream whose signal aborts', () => {
  it('ends its requests and its body immediately, and leaves nothing in S3', async () => {
    // No request of this store times out within the time of the test: only the abort ends them.
    const patient = createObjectStore({ ...options(), bucket: 'pasteflow', requestTimeoutMs: 600_000 });
    const stop = new AbortController();
    const { body, ended } = endless(200);
    let outcome: Promise<unknown> = Promise.resolve();
    await heldPart(() => {
      outcome = put(body, stop.signal, patient).catch((error: unknown) => error);
    });
    await until(() => proxy.matching(PART).length === 3);
    const reason = new Error('the worker stops');
    stop.abort(reason);
    expect(await outcome).toBe(reason);
    await until(() => proxy.matching(PART).every(({ aborted }) => aborted));
    expect(ended()).toBe(true);
    expect(proxy.matching(ABORT)).toHaveLength(1);
    expect(await openUploads()).toEqual([]);
    patient.close();
  });

  it('ends while its body yields nothing', async () => {
    const stop = new AbortController();
    const body = new Readable({ read: () => {} });
    body.push(Buffer.alloc(9 * MIB));
    const outcome = put(body, stop.signal).catch((error: unknown) => error);
    await until(() => proxy.matching(PART).some(({ status }) => status === 200));
    stop.abort(new Error('the worker stops'));
    expect(await outcome).toBe(stop.signal.reason);
    expect(body.destroyed).toBe(true);
    expect(await openUploads()).toEqual([]);
  });

  it('waits for the id of an upload that S3 is starting, so that the upload can be aborted', async () => {
    const stop = new AbortController();
    const held = proxy.hold(BEGIN);
    const outcome = put(endless(50).body, stop.signal).catch((error: unknown) => error);
    const begin = await held;
    stop.abort(new Error('the worker stops'));
    await begin.forward();
    expect(await outcome).toBe(stop.signal.reason);
    expect(proxy.matching(PART)).toHaveLength(0);
    expect(await openUploads()).toEqual([]);
  });

  it('is not started when aborted first', async () => {
    const { body, given } = endless(50);
    await expect(put(body, AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late');
    expect(given()).toBe(0);
    expect(proxy.requests).toHaveLength(0);
  });
});
