import { afterEach, describe, expect, it } from '@jest/globals';
import type { Credential } from '../src/http/request/caller.ts';
import { Heartbeat, type BeatingStream, type HeartbeatOptions } from '../src/live/heartbeat.ts';
import { until } from './support/until.ts';

const hashOf = (number: number) => Buffer.from(String(number));

interface TestStream extends BeatingStream {
  beats: number;
  isRefused: boolean;
}

function streamOf(credential: Credential): TestStream {
  const stream: TestStream = {
    caller: { kind: 'user', userId: 'u', tokenId: null, address: '', credential },
    beats: 0,
    isRefused: false,
    beat: () => (stream.beats += 1),
    refuse: () => (stream.isRefused = true),
  };
  return stream;
}

const stored = (number: number) => streamOf({ kind: 'stored', hash: hashOf(number) });
const signed = (expiresAtMs: number) => streamOf({ kind: 'signed', expiresAtMs });

const added: (readonly [Heartbeat, readonly BeatingStream[]])[] = [];
afterEach(() => {
  for (const [heartbeat, streams] of added.splice(0)) for (const stream of streams) heartbeat.remove(stream);
});

function beating(streams: readonly TestStream[], findGood: HeartbeatOptions['findGood']) {
  const failures: unknown[] = [];
  const heartbeat = new Heartbeat({ everyMs: 1, findGood, onCheckFailed: (error) => failures.push(error) });
  for (const stream of streams) heartbeat.add(stream);
  added.push([heartbeat, streams]);
  return failures;
}

describe('the heartbeat of all streams', () => {
  it('ends that of a signed token that has expired', async () => {
    const [expired, good] = [signed(Date.now() - 1), signed(Date.now() + 600_000)];
    beating([expired, good], () => Promise.resolve(new Set()));
    await until(() => expired.isRefused && good.beats > 3);
    expect(good.isRefused).toBe(false);
  });

  it('asks for each token once, and for at most 1000 at a time', async () => {
    const streams = Array.from({ length: 3000 }, (_, number) => stored(Math.floor(number / 2)));
    const asked: number[] = [];
    beating(streams, (hashes) => {
      asked.push(hashes.length);
      return Promise.resolve(
        new Set(hashes.filter((hash) => !hash.equals(hashOf(1200))).map((hash) => hash.toString('hex'))),
      );
    });
    await until(() => streams[2400]!.isRefused);
    expect(asked.slice(0, 2)).toEqual([1000, 500]);
    expect(streams.flatMap(({ isRefused }, number) => (isRefused ? [number] : []))).toEqual([2400, 2401]);
  });

  it('ends none while Postgres does not answer, and asks again', async () => {
    const stream = stored(1);
    const failures = beating([stream], () => Promise.reject(new Error('down')));
    await until(() => failures.length > 3);
    expect(stream.isRefused).toBe(false);
  });
});
