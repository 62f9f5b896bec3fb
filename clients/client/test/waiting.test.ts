import { describe, expect, it } from '@jest/globals';
import { PasteFailedError, PasteflowTimeoutError } from '../src/index.ts';
import { delayBeforePoll } from '../src/waiting.ts';
import { pasteWith } from './support/paste.ts';
import { json, problem, reset } from './support/scripted-server.ts';
import { useServer } from './support/server.ts';

const bed = useServer();

const created = json(201, pasteWith({ delete_token: 'secret' }));
const inProgress = json(200, pasteWith({}));
const processed = json(200, pasteWith({ status: 'PROCESSED', processed_at: '2026-11-21T12:00:01.000Z' }));
const failed = json(200, pasteWith({ status: 'FAILED', failure_reason: '6 attempts failed' }));

describe('pastes.create with wait', () => {
  it('resolves when the upload has succeeded, with the fields that only the creation returns', async () => {
    bed.server.script(created, inProgress, inProgress, processed);
    const paste = await bed.client().pastes.create('hello', { wait: true });
    expect(paste).toMatchObject({ status: 'PROCESSED', delete_token: 'secret' });
    expect(bed.server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /v1/pastes',
      ...Array<string>(3).fill('GET /v1/pastes/q7Zk2Lm9Xa'),
    ]);
  });

  it('continues after lost responses', async () => {
    bed.server.script(created, reset, inProgress, reset, processed);
    expect(await bed.client().pastes.create('hello', { wait: true })).toMatchObject({ status: 'PROCESSED' });
  });

  it('rejects with the paste and its failure reason when the upload fails', async () => {
    bed.server.script(created, inProgress, failed);
    const error: unknown = await bed
      .client()
      .pastes.create('hello', { wait: true })
      .catch((each: unknown) => each);
    expect(error).toBeInstanceOf(PasteFailedError);
    expect(error).toMatchObject({
      message: 'the upload of paste q7Zk2Lm9Xa failed: 6 attempts failed',
      paste: { short_code: 'q7Zk2Lm9Xa', failure_reason: '6 attempts failed' },
    });
  });

  it('rejects with paste_gone when the paste is deleted during the wait', async () => {
    bed.server.script(created, inProgress, problem(410, 'paste_gone'));
    await expect(bed.client().pastes.create('hello', { wait: true })).rejects.toMatchObject({
      code: 'paste_gone',
    });
  });

  it('waits no longer than timeoutMs', async () => {
    bed.server.script(created, inProgress);
    const creating = bed.client().pastes.create('hello', { wait: true, timeoutMs: 120 });
    await expect(creating).rejects.toThrow(PasteflowTimeoutError);
    // Unknown when the machine takes 120 ms for the first answer.
    await expect(creating).rejects.toThrow(/^paste q7Zk2Lm9Xa is (IN_PROGRESS|unknown) after 120 ms$/);
  });

  it('ends with the reason of its AbortSignal', async () => {
    const controller = new AbortController();
    const reason = new Error('the user has left');
    bed.server.script(created, async (req, res) => {
      await inProgress(req, res);
      controller.abort(reason);
    });
    const creating = bed.client().pastes.create('hello', { wait: true, signal: controller.signal });
    await expect(creating).rejects.toBe(reason);
  });
});

describe('the Prefer header', () => {
  it('asks the server to wait for half of the try timeout, at most 20 s', async () => {
    for (const [tryTimeoutMs, prefer] of [
      [60_000, 'wait=20'],
      [10_000, 'wait=5'],
      [1000, undefined],
    ] as const) {
      bed.server.script(processed);
      await bed.client({ retry: { tryTimeoutMs } }).pastes.wait('q7Zk2Lm9Xa');
      expect(bed.server.requests.map(({ headers }) => headers.prefer)).toEqual([prefer]);
    }
    bed.server.script(processed);
    await bed.client().pastes.get('q7Zk2Lm9Xa');
    expect(bed.server.requests[0]!.headers.prefer).toBeUndefined();
  });
});

describe('the delay before the next poll', () => {
  it('grows with the time waited so far, from 50 ms to 3 s', () => {
    expect(
      [0, 100, 200, 400, 4000, 12_000, 60_000].map((elapsedMs) => delayBeforePoll(elapsedMs, 0)),
    ).toEqual([50, 50, 50, 100, 1000, 3000, 3000]);
  });

  it('is reduced by the duration of the poll: a server that waits is polled again at once', () => {
    expect([0, 40, 50, 20_000].map((pollMs) => delayBeforePoll(100, pollMs))).toEqual([50, 10, 0, 0]);
    expect(delayBeforePoll(20_000, 20_000)).toBe(0);
    expect(delayBeforePoll(20_000, 5)).toBe(2995); // a server that ignores the Prefer header
  });

  it('leads to a dozen requests in the first second, and fewer than forty in the first minute', () => {
    const looks = (withinMs: number): number => {
      let count = 0;
      for (let elapsed = 0; elapsed < withinMs; elapsed += delayBeforePoll(elapsed, 0)) count += 1;
      return count;
    };
    expect(looks(1000)).toBeLessThanOrEqual(12);
    expect(looks(60_000)).toBeLessThan(40);
  });
});
