import { afterEach, describe, expect, it } from '@jest/globals';
import type { Socket } from 'node:net';
import type { Credential } from '../src/http/callers/caller.ts';
import { type BeatingStream, Heartbeat, type HeartbeatOptions } from '../src/live/live.ts';
import { type RunningApi, useApi } from './support/api.ts';
import { readEvents } from './support/event-reader.ts';
import { dial, ownForm, problemOf } from './support/http.ts';
import { newPaste, settle } from './support/pastes.ts';
import { browseAs } from './support/sign-in.ts';
import { metricOf, until, waiting } from './support/until.ts';
import { newUser, revokeTokens, signedInWith } from './support/users.ts';

// Before the api stops, because the api waits for its requests.
const sockets: Socket[] = [];
afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));
const bed = useApi();

/** Sends a request on a connection of its own, and leaves it waiting. */
async function send(
  api: RunningApi,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<Socket> {
  const socket = await dial(api.port);
  sockets.push(socket.on('error', () => {}));
  const lines = Object.entries({ host: 'x', ...headers }).map(([name, value]) => `${name}: ${value}`);
  socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  return socket;
}

const env = { TRUST_PROXY: '1', MAX_WAITERS: '150' };
const wait = { prefer: 'wait=60' };
const from = (address: string) => ({ 'x-forwarded-for': address });

describe('the waiting requests of one caller', () => {
  it('are limited, polls and streams together, and those of others go on', async () => {
    const api = await bed.start({ env });
    const code = await newPaste(bed.db);
    const paste = `/v1/pastes/${code}`;
    const mine = from('192.0.2.1');
    await send(api, paste, { ...mine, ...wait });
    await send(api, paste, { ...mine, ...wait });
    const stream = await send(api, `${paste}/events`, mine);
    await waiting(api, 2);
    await waiting(api, 1, 'events');

    for (const [path, headers] of [
      [paste, { ...mine, ...wait }],
      [`${paste}/events`, mine],
    ] as const) {
      const refused = await fetch(api.url + path, { headers });
      expect(refused.headers.get('retry-after')).toBe('1');
      const problem = await problemOf(refused);
      expect(problem).toMatchObject({ status: 429, code: 'rate_limited' });
      expect(problem.detail).toContain('3 of your requests are waiting');
    }
    expect(await metricOf(api, 'live_waiters_refused_total', { kind: 'wait' })).toBe(1);
    expect(await metricOf(api, 'live_waiters_refused_total', { kind: 'events' })).toBe(1);
    expect((await fetch(api.url + paste, { headers: mine })).status).toBe(200); // doesn't wait

    await send(api, paste, { ...from('192.0.2.2'), ...wait });
    await waiting(api, 3);
    stream.destroy();
    await waiting(api, 0, 'events');
    await send(api, `${paste}/events`, mine);
    await waiting(api, 1, 'events');
  });

  it('are those of a user with any token, from any address', async () => {
    const api = await bed.start({ env });
    const paste = `/v1/pastes/${await newPaste(bed.db)}`;
    const user = await newUser(bed.db);
    for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3'])
      await send(api, paste, { ...user.headers, ...from(address), ...wait });
    await waiting(api, 3);
    const headers = { ...user.headers, ...from('192.0.2.4'), ...wait };
    expect((await fetch(api.url + paste, { headers })).status).toBe(429);
    expect(
      (await fetch(`${api.url}${paste}/events`, { headers: from('192.0.2.1'), method: 'HEAD' })).status,
    ).toBe(200);
  });

  it('free their places when they are answered', async () => {
    const api = await bed.start({ env });
    for (let round = 0; round < 4; round += 1) {
      const code = await newPaste(bed.db);
      const answers = [1, 2, 3].map(() => fetch(`${api.url}/v1/pastes/${code}`, { headers: wait }));
      await waiting(api, 3);
      await settle(bed.db, code, 's3://pasteflow/x');
      expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200]);
    }
  });
});

describe('the heartbeat of all streams', () => {
  const hashOf = (number: number) => Buffer.from(String(number));

  interface TestStream extends BeatingStream {
    beats: number;
    isRefused: boolean;
  }

  function streamOf(credential: Credential): TestStream {
    const stream: TestStream = {
      caller: { kind: 'user', userId: 'u', tokenId: null, scope: 'full' as const, address: '', credential },
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
    for (const [heartbeat, streams] of added.splice(0))
      for (const stream of streams) heartbeat.remove(stream);
  });

  function beating(streams: readonly TestStream[], findGood: HeartbeatOptions['findGood']) {
    const failures: unknown[] = [];
    const heartbeat = new Heartbeat({ everyMs: 1, findGood, onCheckFailed: (error) => failures.push(error) });
    for (const stream of streams) heartbeat.add(stream);
    added.push([heartbeat, streams]);
    return failures;
  }

  it('ends that of a signed token that has expired', async () => {
    const [expired, good] = [signed(Date.now() - 1), signed(Date.now() + 600_000)];
    beating([expired, good], () => Promise.resolve(new Set()));
    await until(() => expired.isRefused && good.beats > 3);
    expect(good.isRefused).toBe(false);
  });

  it('asks for each token once, and ends the streams of what was revoked', async () => {
    const streams = Array.from({ length: 3000 }, (_, number) => stored(Math.floor(number / 2)));
    const asked: number[] = [];
    beating(streams, (hashes) => {
      asked.push(hashes.length);
      return Promise.resolve(
        new Set(hashes.filter((hash) => !hash.equals(hashOf(1200))).map((hash) => hash.toString('hex'))),
      );
    });
    await until(() => streams[2400]!.isRefused);
    expect(asked[0]).toBe(1500);
    expect(streams.flatMap(({ isRefused }, number) => (isRefused ? [number] : []))).toEqual([2400, 2401]);
  });

  it('ends what has expired, and goes on to beat, while Postgres does not answer', async () => {
    const [expired, good] = [signed(Date.now() - 1), stored(1)];
    beating([expired, good], () => new Promise(() => {}));
    await until(() => expired.isRefused && good.beats > 3);
    expect(good.isRefused).toBe(false);
  });

  it('ends none while Postgres does not answer, and asks again', async () => {
    const stream = stored(1);
    const failures = beating([stream], () => Promise.reject(new Error('down')));
    await until(() => failures.length > 3);
    expect(stream.isRefused).toBe(false);
  });
});

const URL_OF_OBJECT = 's3://pasteflow/x';

describe('a stream ends', () => {
  /** A stream of a paste, whose caller only its token or session makes good. */
  const streamOf = async (headers: Record<string, string>) => {
    const api = await bed.start({ live: { heartbeatMs: 20 } });
    const code = await newPaste(bed.db);
    const reader = await readEvents(`${api.url}/v1/pastes/${code}/events`, headers);
    await until(() => reader.beats > 3);
    return { code, reader };
  };
  /** The stream ends without an `end`, and later events don't arrive. */
  const expectEnded = async ({ code, reader }: Awaited<ReturnType<typeof streamOf>>) => {
    expect(await reader.over).toBe('ended');
    await settle(bed.db, code, URL_OF_OBJECT);
    expect(reader.words()).toEqual([]);
  };

  it('when its token is revoked', async () => {
    const { id, headers } = await newUser(bed.db);
    const stream = await streamOf(headers);
    await revokeTokens(bed.db, id);
    await expectEnded(stream);
  });

  it.each(['with its token', 'by signing out'])('when the session of its browser ends %s', async (how) => {
    const { id, token } = await newUser(bed.db);
    const cookie = await signedInWith(bed.db, token);
    const stream = await streamOf({ cookie, 'sec-fetch-site': 'same-origin' });
    if (how === 'with its token') await revokeTokens(bed.db, id);
    else await browseAs(bed.api, cookie, '/session/end', ownForm(bed.api.url, {}));
    await expectEnded(stream);
  });

  it('alone among 50, whose tokens are checked by one statement a beat', async () => {
    const api = await bed.start({ live: { heartbeatMs: 50 } });
    const code = await newPaste(bed.db);
    const users = await Promise.all(Array.from({ length: 50 }, () => newUser(bed.db)));
    const readers = await Promise.all(
      users.map(({ headers }) => readEvents(`${api.url}/v1/pastes/${code}/events`, headers)),
    );
    await revokeTokens(bed.db, users[0]!.id);
    expect(await readers[0]!.over).toBe('ended');
    const before = { beats: readers[1]!.beats, checks: checksOf(api) };
    await until(() => readers[1]!.beats > before.beats + 5);
    expect(checksOf(api) - before.checks).toBeLessThanOrEqual(readers[1]!.beats - before.beats + 1);
    await settle(bed.db, code, URL_OF_OBJECT);
    for (const reader of readers.slice(1)) {
      await reader.over;
      expect(reader.words().at(-1)).toBe('end PROCESSED');
    }
  });

  const checksOf = ({ statements }: Pick<RunningApi, 'statements'>) =>
    statements.filter((sql) => sql.includes("encode(token_hash, 'hex')")).length;
});
