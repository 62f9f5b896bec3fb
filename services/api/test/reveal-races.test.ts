import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { FaultProxy } from '@pasteflow/dev-stack/testing';
import { findPaste } from '@pasteflow/postgres';
import { sql } from 'kysely';
import { useApi, type RunningApi } from './support/api.ts';
import { processedPaste } from './support/pastes.ts';
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
  ])(
    'gives a content %s to exactly one of 200 readers at two apis',
    async (_name, size) => {
      const apis = await Promise.all([start(OFF), start(OFF)]);
      const content = Buffer.alloc(size, 'x');
      const code = await secret(content);
      const answers = await Promise.all(
        Array.from({ length: 200 }, async (_, n) => {
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
      expect(answers.filter(({ status }) => status === 410)).toHaveLength(199);
      const { rows } = await sql`
      SELECT FROM state_transitions t JOIN pastes p ON p.id = t.entity
      WHERE p.short_code = ${code} AND t.machine = 'paste_deletion'`.execute(bed.db);
      expect(rows).toHaveLength(1);
    },
    120_000,
  );

  it.each([
    ['in memory', 10],
    ['as a stream', 400_000],
  ])('deletes nothing while S3 fails or has no object: a content %s', async (_name, size) => {
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
