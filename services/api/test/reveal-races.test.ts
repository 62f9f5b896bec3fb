import { createServer, request as forward, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { FaultProxy, TcpProxy } from '@pasteflow/dev-stack/testing';
import { objectKeyOf } from '@pasteflow/domain';
import { findPaste } from '@pasteflow/postgres';
import { sql } from 'kysely';
import { useApi, type RunningApi } from './support/api.ts';
import { problemOf } from './support/http.ts';
import { compressedPaste, processedPaste, putCompressed, sha256 } from './support/pastes.ts';
import { until } from './support/until.ts';

const bed = useApi();
let proxy: FaultProxy;
beforeAll(async () => {
  proxy = await FaultProxy.start(bed.stack.aws.endpoint);
});
afterEach(() => proxy.clear());
afterAll(() => proxy.stop());

/** The pause of a reader who was refused because others are being served. */
const RETRY_AFTER_MS = 100;
const OFF = { RATE_LIMIT_PER_MINUTE: '0', RATE_LIMIT_CREATES_PER_MINUTE: '0' };
const start = (env: Record<string, string> = {}) =>
  bed.start({ env: { AWS_ENDPOINT_URL_S3: proxy.url, ...env } });
const secret = (content: Buffer | string = 'the secret') => processedPaste(bed, content, { burn: true });
const reveal = (code: string, init: RequestInit, { url }: Pick<RunningApi, 'url'>) =>
  fetch(`${url}/${code}`, { method: 'POST', ...init });
const bytesOf = async (answer: Response) => Buffer.from(await answer.arrayBuffer());
const rowOf = async (code: string) => (await findPaste(bed.db, code))!;

async function expectUnread(code: string): Promise<void> {
  expect(await rowOf(code)).toMatchObject({
    burned_at: null,
    deletion_status: 'NOT_EXPIRED',
    gone: false,
  });
  const answer = await reveal(code, {}, bed.api);
  expect([answer.status, await answer.text()]).toEqual([200, 'the secret']);
}

describe('a reveal', () => {
  it.each([
    ['in memory', 2000],
    ['as a stream', 400_000],
  ])('gives content %s to exactly one of 40 readers at two apis', async (_name, size) => {
    const apis = await Promise.all([start(OFF), start(OFF)]);
    const content = Buffer.alloc(size, 'x');
    const code = await secret(content);
    const answers = await Promise.all(
      Array.from({ length: 40 }, async (_, n) => {
        for (;;) {
          const answer = await reveal(code, {}, apis[n % 2]!);
          const body = Buffer.from(await answer.arrayBuffer());
          if (answer.status !== 429 && answer.status !== 503) return { status: answer.status, body };
          await sleep(RETRY_AFTER_MS);
        }
      }),
    );
    const got = answers.filter(({ status }) => status === 200);
    expect(got).toHaveLength(1);
    expect(got[0]!.body.equals(content)).toBe(true);
    expect(answers.filter(({ status }) => status === 410)).toHaveLength(39);
    const { rows } = await sql`
      SELECT FROM state_transitions t JOIN pastes p ON p.id = t.entity
      WHERE p.short_code = ${code} AND t.machine = 'paste_deletion'`.execute(bed.db);
    expect(rows).toHaveLength(1);
  });

  it.each([
    ['in memory', 10],
    ['as a stream', 400_000],
  ])('deletes nothing while S3 fails or has no object: content %s', async (_name, size) => {
    const api = await start();
    const code = await secret(Buffer.alloc(size, 'y'));
    proxy.rule({ method: 'GET' }, { kind: 'fail', status: 503 });
    expect((await reveal(code, {}, api)).status).toBe(503);
    proxy.clear();
    proxy.rule({ method: 'GET' }, { kind: 'fail', status: 404 });
    expect((await reveal(code, {}, api)).status).toBe(503);
    proxy.clear();
    expect((await rowOf(code)).burned_at).toBeNull();
    expect((await (await reveal(code, {}, api)).arrayBuffer()).byteLength).toBe(size);
  });

  it('deletes nothing when the client disconnects before the content is at hand', async () => {
    const api = await start();
    const code = await secret();
    const held = proxy.hold({ method: 'GET', path: new RegExp(code) });
    const client = new AbortController();
    const reading = reveal(code, { signal: client.signal }, api).catch(() => 'disconnected');
    const request = await held;
    client.abort();
    expect(await reading).toBe('disconnected');
    await until(() =>
      api.logs.some(
        ({ message, short_code, aborted }) =>
          message === 'request' && short_code === code && aborted === true,
      ),
    );
    await request.forward().catch(() => {});
    await expectUnread(code);
  });

  it('deletes nothing while its row is locked for longer than a statement may take, or Postgres refuses', async () => {
    const api = await start();
    const code = await secret();
    await sql`ALTER FUNCTION reveal_paste(uuid, bytea, text, text) SET lock_timeout = '100ms'`.execute(
      bed.db,
    );
    const lock = await bed.db.startTransaction().execute();
    await sql`SELECT FROM pastes WHERE short_code = ${code} FOR UPDATE`.execute(lock);
    expect((await reveal(code, {}, api)).status).toBe(503);
    await lock.rollback().execute();
    await sql`ALTER FUNCTION reveal_paste(uuid, bytea, text, text) RESET lock_timeout`.execute(bed.db);
    await expectUnread(code);
  });
});

describe('a reveal of more than 256 KiB', () => {
  const content = Buffer.alloc(400_000, 'pasteflow\n');
  const servers: Server[] = [];
  afterEach(() => servers.splice(0).forEach((server) => server.close().closeAllConnections()));

  /** S3, whose answers to GET break off in the middle while `cuts` is true. */
  async function cuttingS3(): Promise<{ readonly url: string; cuts: boolean }> {
    const state = { url: '', cuts: true };
    const upstream = new URL(bed.stack.aws.endpoint);
    const server = createServer((req, res) => {
      const { method, headers, url: path } = req;
      const { hostname, port } = upstream;
      req.pipe(
        forward({ hostname, port, path, method, headers }, (answer) => {
          const chunks: Buffer[] = [];
          answer.on('data', (chunk: Buffer) => chunks.push(chunk));
          answer.on('end', () => {
            const body = Buffer.concat(chunks);
            res.writeHead(answer.statusCode ?? 500, answer.headers);
            if (state.cuts && method === 'GET')
              res.write(body.subarray(0, body.length / 2), () => setImmediate(() => res.destroy()));
            else res.end(body);
          });
        }),
      );
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return state;
  }

  it.each(['as it is', 'compressed'])(
    'deletes nothing when S3 breaks off in the middle of an object that is stored %s',
    async (how) => {
      const s3 = await cuttingS3();
      const api = await bed.start({ env: { AWS_ENDPOINT_URL_S3: s3.url } });
      const code =
        how === 'compressed' ? await compressedPaste(bed, content, { burn: true }) : await secret(content);
      expect((await reveal(code, {}, api)).status).toBe(503);
      expect((await rowOf(code)).burned_at).toBeNull();
      s3.cuts = false;
      expect((await bytesOf(await reveal(code, {}, api))).equals(content)).toBe(true);
    },
  );

  it('deletes nothing when one bit of the object has changed', async () => {
    const code = await secret(content);
    const flipped = Buffer.from(content);
    flipped[300_000] = flipped[300_000]! ^ 1;
    await bed.store.put(objectKeyOf(code), flipped, { sha256: sha256(flipped) });
    expect((await reveal(code, {}, bed.api)).status).toBe(503);
    expect((await rowOf(code)).burned_at).toBeNull();
    await bed.store.put(objectKeyOf(code), content, { sha256: sha256(content) });
    expect((await bytesOf(await reveal(code, {}, bed.api))).equals(content)).toBe(true);
  });

  it('deletes nothing when a compressed object has other content of the same length', async () => {
    const code = await compressedPaste(bed, content, { burn: true });
    await putCompressed(bed.store, code, gzipSync(Buffer.alloc(400_000, 'another')));
    expect((await reveal(code, {}, bed.api)).status).toBe(503);
    expect((await rowOf(code)).burned_at).toBeNull();
  });
});

describe('a reveal whose claim has no answer', () => {
  /** Postgres commits the claim, and the connection on which the api waits for that breaks. */
  async function loseAnswer(
    proxy: TcpProxy,
    code: string,
    send: () => Promise<Response>,
  ): Promise<Promise<Response>[]> {
    const lock = await bed.db.startTransaction().execute();
    await sql`SELECT FROM pastes WHERE short_code = ${code} FOR UPDATE`.execute(lock);
    const reading = send();
    await until(
      () =>
        sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%reveal_paste(%'
          AND wait_event_type = 'Lock'`.execute(bed.db),
      ({ rows }) => rows.length === 1,
    );
    await proxy.down();
    await lock.rollback().execute();
    await until(
      () => rowOf(code),
      ({ burned_at: burnedAt }) => burnedAt !== null,
    );
    return [reading]; // in a list, because a promise of a promise is the inner one
  }

  it.each([
    ['10 bytes', 'the secret'],
    ['400 kB', 'x'.repeat(400_000)],
  ])('is sent when Postgres is back: %s', async (_name, content) => {
    const proxy = await TcpProxy.start(bed.stack.postgres.port);
    const api = await bed.start({ env: { DATABASE_URL: proxy.through(bed.databaseUrl) } });
    const code = await secret(content);
    const [reading] = await loseAnswer(proxy, code, () => reveal(code, {}, api));
    await proxy.up();
    const answer = await reading!;
    expect([answer.status, await answer.text()]).toEqual([200, content]);
    await api.stop();
    await proxy.stop();
  });

  it('is answered 503 while Postgres stays away, with the key by which the reader gets the content later', async () => {
    const proxy = await TcpProxy.start(bed.stack.postgres.port);
    const api = await bed.start({ env: { DATABASE_URL: proxy.through(bed.databaseUrl) } });
    const code = await secret();
    const [reading] = await loseAnswer(proxy, code, () => reveal(code, {}, api));
    const now = performance.now.bind(performance);
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + 16_000); // 15 s later the api gives up
    const answer = await reading!;
    clock.mockRestore();
    const problem = await problemOf(answer);
    expect(problem).toMatchObject({ status: 503, code: 'dependency_unavailable' });
    expect(problem.detail).toContain('within five minutes');
    expect(answer.headers.get('retry-after')).toBe('1');
    const key = answer.headers.get('idempotency-key')!;
    expect((await reveal(code, {}, bed.api)).status).toBe(410);
    expect(await (await reveal(code, { headers: { 'idempotency-key': key } }, bed.api)).text()).toBe(
      'the secret',
    );
    await api.stop();
    await proxy.stop();
  });
});
