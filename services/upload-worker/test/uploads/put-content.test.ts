import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { DependencyUnavailableError } from '@pasteflow/domain';
import type { ClaimedUpload } from '@pasteflow/postgres';
import type { ObjectStore } from '@pasteflow/s3';
import { StorageAccess } from '../../src/uploads/storage-access.ts';
import { confirmStored, createPutContent } from '../../src/uploads/put-content.ts';

const content = Buffer.from('hello');

function upload(sizeBytes = content.length): ClaimedUpload {
  const contentHash = `sha256:${createHash('sha256').update(content).digest('hex')}`;
  return { shortCode: 'abc', executionId: 'e', pasteId: 'p', attempt: 1, losses: 0, contentHash, sizeBytes };
}

/** Records the puts. End-to-end tests cover the faults of a real S3. */
function setUp({
  put,
  ...options
}: Partial<Parameters<typeof createPutContent>[0]> & { put?: ObjectStore['put'] } = {}) {
  const puts: [string, string][] = [];
  const store = {
    urlOf: (key: string) => `s3://bucket/${key}`,
    put: put ?? ((key: string, body: Buffer) => Promise.resolve(void puts.push([key, body.toString()]))),
  } as ObjectStore;
  const putContent = createPutContent({
    store,
    access: new StorageAccess({
      put: (key, body, how) => store.put(key, body, how),
      deleteMany: () => Promise.resolve([]),
    }),
    readPayload: () => Promise.resolve(content),
    putTimeoutMs: 1000,
    compresses: true,
    ...options,
  });
  return { puts, putContent };
}

const untilAborted: ObjectStore['put'] = (_key, _content, { signal }) =>
  new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () =>
      reject(Object.assign(new Error('aborted'), { name: 'AbortError' })),
    );
  });

const never = new AbortController().signal;

describe('an attempt at an upload', () => {
  it('puts inline content without reading the payload', async () => {
    const { puts, putContent } = setUp({ readPayload: () => Promise.reject(new Error('payload was read')) });
    expect(await putContent(upload(), content, never)).toEqual({
      kind: 'succeeded',
      s3Url: 's3://bucket/pastes/abc',
      encoding: null,
      storedBytes: 5,
    });
    expect(puts).toEqual([['pastes/abc', 'hello']]);
  });

  it('reads the payload when the message has no content, or other content', async () => {
    for (const inline of [null, Buffer.from('HELLO')]) {
      const { puts, putContent } = setUp();
      expect(await putContent(upload(), inline, never)).toEqual({
        kind: 'succeeded',
        s3Url: 's3://bucket/pastes/abc',
        encoding: null,
        storedBytes: 5,
      });
      expect(puts).toEqual([['pastes/abc', 'hello']]);
    }
  });

  it('never puts bytes that differ from content_hash', async () => {
    const { puts, putContent } = setUp({ readPayload: () => Promise.resolve(Buffer.from('other')) });
    expect(await putContent(upload(), null, never)).toMatchObject({ kind: 'failed' });
    expect(puts).toEqual([]);
  });

  it('fails when S3 fails, with a reason that names no host, and with the error for the log', async () => {
    const cause = new Error('connect to host-17 failed');
    const { putContent } = setUp({ put: () => Promise.reject(cause) });
    expect(await putContent(upload(), content, never)).toEqual({
      kind: 'failed',
      error: 'storage unavailable: S3 did not answer',
      cause,
    });
  });

  it('fails when S3 does not answer in time', async () => {
    const { putContent } = setUp({ put: untilAborted, putTimeoutMs: 20 });
    expect(await putContent(upload(), content, never)).toMatchObject({
      kind: 'failed',
      error: 'storage unavailable: S3 did not answer within 20 ms',
    });
  });

  it('has the whole time again for the read back, and says that S3 stored the object', async () => {
    let began = Infinity;
    const put: ObjectStore['put'] = async (key, body, options) => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      began = performance.now();
      options.onReadBack?.();
      await untilAborted(key, body, options);
    };
    const { putContent } = setUp({ put, putTimeoutMs: 2000 });
    expect(await putContent(upload(), content, never)).toMatchObject({
      kind: 'failed',
      error:
        'storage unavailable: S3 stored the object, but the worker could not read it back within 2000 ms',
    });
    expect(performance.now() - began).toBeGreaterThan(1990);
  });

  it('does not report a reset connection as a timeout', async () => {
    const reset = Object.assign(new Error('read ECONNRESET'), { name: 'TimeoutError', code: 'ECONNRESET' });
    const { putContent } = setUp({ put: () => Promise.reject(reset) });
    expect(await putContent(upload(), content, never)).toMatchObject({
      kind: 'failed',
      error: 'storage unavailable: S3 did not answer: ECONNRESET',
    });
  });

  it('starts when no other runs, whatever the size of its content', async () => {
    const { putContent } = setUp();
    expect(await putContent(upload(500 * 1024 * 1024), content, never)).toMatchObject({ kind: 'succeeded' });
  });

  it('is interrupted, not failed, when its signal is aborted', async () => {
    const { putContent } = setUp({ put: untilAborted });
    const stop = new AbortController();
    const attempt = putContent(upload(), content, stop.signal);
    stop.abort();
    expect(await attempt).toEqual({ kind: 'interrupted' });
  });

  it('is postponed, not failed, when Postgres does not return the payload', async () => {
    const { putContent } = setUp({
      readPayload: () => Promise.reject(new DependencyUnavailableError('postgres')),
    });
    expect(await putContent(upload(), null, never)).toMatchObject({ kind: 'postponed' });
  });

  it('with large content waits while 80 MiB are in progress; small content does not wait', async () => {
    let running = 0;
    const { putContent } = setUp({
      put: (...args) => {
        running += 1;
        return untilAborted(...args);
      },
    });
    const stop = new AbortController();
    const large = Array.from({ length: 20 }, () =>
      putContent(upload(10 * 1024 * 1024), content, stop.signal),
    );
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(running).toBe(8);
    const small = putContent(upload(), content, stop.signal);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(running).toBe(9);
    stop.abort();
    await Promise.all([...large, small]);
  });
});

const failed = { kind: 'failed', error: 'storage unavailable: S3 did not answer' } as const;

/** Sends a byte now and then, and ends only when the test ends it. */
const endless: Pick<ObjectStore, 'findContent' | 'urlOf'> = {
  urlOf: (key) => key,
  findContent: (_key, { signal }) =>
    new Promise((_resolve, reject) => {
      signal?.addEventListener('abort', () => reject(new DependencyUnavailableError('s3')));
    }),
};

describe('the look at the bucket for an upload that would be given up', () => {
  it('ends after a time even when the store sends the object without an end', async () => {
    expect(await confirmStored(endless, upload(), failed, never, 20)).toEqual(failed);
  });

  it('is interrupted by the signal', async () => {
    const stop = new AbortController();
    const looking = confirmStored(endless, upload(), failed, stop.signal);
    stop.abort();
    expect(await looking).toEqual({ kind: 'interrupted' });
  });
});
