import { describe, expect, it } from '@jest/globals';
import { TcpProxy } from '@pasteflow/dev-stack/testing';
import { findPaste } from '@pasteflow/postgres';
import { sql } from 'kysely';
import { useApi, type RunningApi } from './support/api.ts';
import { problemOf } from './support/http.ts';
import { processedPaste } from './support/pastes.ts';
import { until } from './support/until.ts';

const bed = useApi();
const secret = (content = 'the secret') => processedPaste(bed, content, { burn: true });
const rowOf = async (code: string) => (await findPaste(bed.db, code))!;
const reveal = (code: string, { api = bed.api, key }: { api?: RunningApi; key?: string } = {}) =>
  fetch(`${api.url}/${code}`, {
    method: 'POST',
    headers: key === undefined ? {} : { 'idempotency-key': key },
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
    const [reading] = await loseAnswer(proxy, code, () => reveal(code, { api }));
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
    const [reading] = await loseAnswer(proxy, code, () => reveal(code, { api }));
    const answer = await reading!;
    const problem = await problemOf(answer);
    expect(problem).toMatchObject({ status: 503, code: 'dependency_unavailable' });
    expect(problem.detail).toContain('within five minutes');
    expect(answer.headers.get('retry-after')).toBe('1');
    const key = answer.headers.get('idempotency-key')!;
    expect((await reveal(code)).status).toBe(410);
    expect(await (await reveal(code, { key })).text()).toBe('the secret');
    await api.stop();
    await proxy.stop();
  }, 120_000);
});
