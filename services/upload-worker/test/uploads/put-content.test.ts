import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { DependencyUnavailableError } from '@pasteflow/domain';
import type { ClaimedUpload } from '@pasteflow/postgres';
import type { ObjectStore } from '@pasteflow/s3';
import { createPutContent, type PutContentOptions } from '../../src/uploads/put-content.ts';

const content = Buffer.from('hello');

function upload(sizeBytes = content.length): ClaimedUpload {
  const contentHash = `sha256:${createHash('sha256').update(content).digest('hex')}`;
  return { shortCode: 'abc', executionId: 'e', pasteId: 'p', attempt: 1, losses: 0, contentHash, sizeBytes };
}

/** Records what is put; the faults of a real S3 are tested end to end. */
function setUp({ put, ...options }: Partial<PutContentOptions> & { put?: ObjectStore['put'] } = {}) {
  const puts: [string, string][] = [];
  const store = {
    urlOf: (key: string) => `s3://bucket/${key}`,
    put: put ?? ((key: string, body: Buffer) => Promise.resolve(void puts.push([key, body.toString()]))),
  } as ObjectStore;
  const putContent = createPutContent({
    store,
    readPayload: () => Promise.resolve(content),
    putTimeoutMs: 1000,
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

describe('one attempt', () => {
  it('puts what came inline without asking Postgres', async () => {
    const { puts, putContent } = setUp({ readPayload: () => Promise.reject(new Error('asked')) });
    expect(await putContent(upload(), content, never)).toEqual({
      kind: 'succeeded',
      s3Url: 's3://bucket/pastes/abc',
    });
    expect(puts).toEqual([['pastes/abc', 'hello']]);
  });

  it('reads the payload when the message carries nothing, or something else', async () => {
    for (const inline of [null, Buffer.from('HELLO')]) {
      const { puts, putContent } = setUp();
      expect(await putContent(upload(), inline, never)).toEqual({
        kind: 'succeeded',
        s3Url: 's3://bucket/pastes/abc',
      });
      expect(puts).toEqual([['pastes/abc', 'hello']]);
    }
  });

  it('never puts bytes that are not the paste’s', async () => {
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

  it('fails when S3 takes longer than it may', async () => {
    const { putContent } = setUp({ put: untilAborted, putTimeoutMs: 20 });
    expect(await putContent(upload(), content, never)).toMatchObject({
      kind: 'failed',
      error: 'storage unavailable: S3 did not answer within 20 ms',
    });
  });

  it('does not call a reset connection a timeout', async () => {
    const reset = Object.assign(new Error('read ECONNRESET'), { name: 'TimeoutError', code: 'ECONNRESET' });
    const { putContent } = setUp({ put: () => Promise.reject(reset) });
    expect(await putContent(upload(), content, never)).toMatchObject({
      kind: 'failed',
      error: 'storage unavailable: S3 did not answer: ECONNRESET',
    });
  });

  it('of content beyond all bounds goes alone', async () => {
    const { putContent } = setUp();
    expect(await putContent(upload(500 * 1024 * 1024), content, never)).toMatchObject({ kind: 'succeeded' });
  });

  it('is interrupted, not failed, when the worker is told to drop it', async () => {
    const { putContent } = setUp({ put: untilAborted });
    const stop = new AbortController();
    const attempt = putContent(upload(), content, stop.signal);
    stop.abort();
    expect(await attempt).toEqual({ kind: 'interrupted' });
  });

  it('is postponed, not failed, when Postgres keeps it from its payload', async () => {
    const { putContent } = setUp({
      readPayload: () => Promise.reject(new DependencyUnavailableError('postgres')),
    });
    expect(await putContent(upload(), null, never)).toMatchObject({ kind: 'postponed' });
  });

  it('of large content waits while 80 MiB are under way; small content does not wait for it', async () => {
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
