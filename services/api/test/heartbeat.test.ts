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

  it('lets others run after each 500 bytes that it sends', async () => {
    const streams = Array.from({ length: 1200 }, (_, number) => stored(number));
    const beaten = () => streams.filter(({ beats }) => beats > 0).length;
    const seen = Promise.withResolvers<number>();
    const first = streams[0]!;
    first.beat = () => {
      first.beats += 1;
      setImmediate(() => seen.resolve(beaten()));
    };
    beating(streams, () => new Promise(() => {}));
    expect(await seen.promise).toBe(500);
    await until(() => beaten() === 1200);
  });

  it('ends what has expired, and what the first statement finds revoked, while the next is not answered', async () => {
    const expired = signed(Date.now() - 1);
    const streams = [...Array.from({ length: 1500 }, (_, number) => stored(number)), expired];
    let asked = 0;
    beating(streams, () => (asked++ === 0 ? Promise.resolve(new Set()) : new Promise(() => {})));
    await until(() => asked === 2);
    expect(streams.map(({ isRefused }) => isRefused)).toEqual(
      streams.map((each, at) => at < 1000 || each === expired),
    );
  });

  it('ends none while Postgres does not answer, and asks again', async () => {
    const stream = stored(1);
    const failures = beating([stream], () => Promise.reject(new Error('down')));
    await until(() => failures.length > 3);
    expect(stream.isRefused).toBe(false);
  });
});
