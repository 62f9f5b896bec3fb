import type { ServerResponse } from 'node:http';
import { Readable, Writable } from 'node:stream';
import { setImmediate as nextPoll } from 'node:timers/promises';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Pace, sendStream, sendWhole } from '../src/http/answers/send-paced.ts';
import { readWhole } from '../src/storage/stored-content.ts';
import { until } from './support/until.ts';

const MIB = 1024 * 1024;

/** A response whose client takes nothing until `take` is called, and one chunk for each call. */
function unread() {
  let untaken: (() => void) | undefined;
  let taken = 0;
  const res = new Writable({
    highWaterMark: 1,
    write(chunk: Buffer, _encoding, done) {
      untaken = () => {
        taken += chunk.length;
        done();
      };
    },
  });
  return {
    res: res as unknown as ServerResponse,
    taken: () => taken,
    take: () => {
      const next = untaken;
      untaken = undefined;
      next?.();
    },
  };
}

describe('the pace of a client', () => {
  it('may be below the minimum for a minute, and no longer', () => {
    const pace = new Pace(1000);
    expect([pace.waited(59_999), pace.waited(1)]).toEqual([true, false]);
  });

  it('is measured over a minute: bytes earn time, and no more than a minute of it', () => {
    const pace = new Pace(1000);
    for (let minute = 0; minute < 100; minute += 1) {
      expect(pace.waited(50_000)).toBe(true);
      pace.took(50_000);
    }
    pace.took(1_000_000_000);
    expect([pace.waited(59_000), pace.waited(1000)]).toEqual([true, false]);
    const slow = new Pace(1000);
    const minutes = Array.from({ length: 100 }, () => {
      slow.took(49_000);
      return slow.waited(50_000);
    });
    expect(minutes).toContain(false);
  });

  it('has no minimum when it is 0', () => {
    const pace = new Pace(0);
    pace.took(1);
    expect(pace.waited(Number.MAX_SAFE_INTEGER)).toBe(true);
  });
});

describe('a whole content', () => {
  it('is read from S3 to its end while the client reads nothing', async () => {
    const body = Readable.from([Buffer.alloc(100_000, 'a'), Buffer.alloc(162_144, 'b')]);
    const { res, take, taken } = unread();
    const content = await readWhole(body, 262_144, res);
    expect(body.readableEnded).toBe(true);
    const sending = sendWhole(content, res, { minBytesPerSecond: 0 });
    await until(() => {
      take();
      return taken() === 262_144;
    });
    expect(await sending).toBe('sent');
  });

  it('is refused when S3 sends less than it has announced, or fails', async () => {
    const error = { code: 'dependency_unavailable' };
    const { res } = unread();
    await expect(readWhole(Readable.from([Buffer.alloc(9)]), 10, res)).rejects.toMatchObject(error);
    const failing = new Readable({ read: () => failing.destroy(new Error('reset')) });
    await expect(readWhole(failing, 10, res)).rejects.toMatchObject(error);
  });

  it('is no longer read when the client has disconnected', async () => {
    const silent = new Readable({ read: () => {} });
    const { res } = unread();
    const reading = readWhole(silent, 10, res);
    res.destroy();
    await expect(reading).rejects.toMatchObject({ code: 'dependency_unavailable' });
    expect(silent.destroyed).toBe(true);
    expect(await sendWhole(Buffer.alloc(10), res, { minBytesPerSecond: 0 })).toBe('incomplete');
  });
});

describe('a client that reads 8 kB/s, whose kernel takes 1.3 MiB at a time', () => {
  afterEach(() => void jest.useRealTimers());

  it.each([
    [1, 'too_slow'],
    [4, 'sent'],
  ])('is sent 10 MiB with a patience of %s: %s', async (patience, outcome) => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    const { res, take, taken } = unread();
    const source = Readable.from(Array.from({ length: 160 }, () => Buffer.alloc(65_536)));
    const sending = sendStream(source, res, { minBytesPerSecond: 16_384, patience });
    for (let step = 1.3 * MIB; taken() < 10 * MIB && !res.destroyed; step += 1.3 * MIB) {
      while (!res.writableNeedDrain) await nextPoll();
      jest.advanceTimersByTime((1.3 * MIB) / 8);
      while (taken() < Math.min(step, 10 * MIB) && !res.destroyed) {
        take();
        await nextPoll();
      }
    }
    take();
    expect(await sending).toBe(outcome);
  });
});

describe('a client that reads too slowly', () => {
  const impatient = { minBytesPerSecond: 1000, tickMs: 1, maxCreditMs: 100 };

  it.each(['whole', 'stream'])('is disconnected: %s', async (kind) => {
    const { res } = unread();
    const source = Readable.from([Buffer.alloc(MIB)]);
    const sending =
      kind === 'whole' ? sendWhole(Buffer.alloc(MIB), res, impatient) : sendStream(source, res, impatient);
    expect(await sending).toBe('too_slow');
    expect(res.destroyed).toBe(true);
    if (kind === 'stream') expect(source.destroyed).toBe(true);
  });

  it('is not the client of a stream whose source is slow', async () => {
    let send = (): void => {};
    const source = new Readable({ read: () => {} });
    send = () => void source.push(Buffer.alloc(10));
    const { res, take, taken } = unread();
    const sending = sendStream(source, res, impatient);
    let looks = 0;
    for (let bytes = 10; bytes <= 50; bytes += 10) {
      send();
      await until(() => {
        take();
        return taken() === bytes;
      });
      looks = 0;
      await until(() => (looks += 1) > 30); // more than the credit
    }
    source.push(null);
    expect(await sending).toBe('sent');
  });
});
