import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { DependencyUnavailableError } from '@pasteflow/domain';
import { createDatabase, findPaste, requestDeletion, type Database } from '@pasteflow/postgres';
import { sql } from 'kysely';
import { createFindPaste, createUseToken } from '../src/storage/share-look-ups.ts';
import { useApi } from './support/api.ts';
import { startHoldingProxy, type HoldingProxy } from './support/holding-proxy.ts';
import { newPaste, pasteRow } from './support/pastes.ts';
import { until } from './support/until.ts';
import { newUser, revokeTokens } from './support/users.ts';
import { hashOfSecret } from '../src/http/callers/secret.ts';

const bed = useApi();

let proxy: HoldingProxy;
let db: Database;
let find: ReturnType<typeof createFindPaste>;
let statements: string[];

beforeEach(async () => {
  proxy = await startHoldingProxy(bed.stack.postgres.port, /short_code|unnoted/);
  statements = [];
  db = createDatabase({
    url: proxy.through(bed.databaseUrl),
    applicationName: 'look-ups',
    maxConnections: 2,
    statementTimeoutMs: 1000,
    onConnectionError: () => {},
    onStatement: ({ query }) => statements.push(query.sql),
  });
  find = createFindPaste(db, 60_000);
});

afterEach(async () => {
  proxy.release();
  await db.destroy();
  await proxy.stop();
});

/** The statements with this text whose answer the proxy holds, and for which Postgres has read its rows. */
const answered = async (text: string) =>
  (
    await sql`SELECT FROM pg_stat_activity WHERE state = 'idle' AND application_name = 'look-ups' AND query LIKE ${`%${text}%`}`.execute(
      bed.db,
    )
  ).rows.length;

it('40 reads at once are two statements, and each gets the row of its own code', async () => {
  proxy.release();
  const codes = [
    await newPaste(bed.db, 'open'),
    'noSuchCode',
    await newPaste(bed.db),
    await newPaste(bed.db),
  ];
  const asked = Array.from({ length: 40 }, (_, n) => codes[n % codes.length]!);
  const found = await Promise.all(asked.map(find));
  expect(found).toEqual(await Promise.all(asked.map((code) => findPaste(bed.db, code))));
  expect(statements).toHaveLength(2); // the first starts at once, alone
});

it('a read that begins after a deletion finds the paste gone, also while a statement that has not seen it is under way', async () => {
  const code = await newPaste(bed.db);
  const before = find(code);
  await proxy.holding;
  await until(async () => (await answered('short_code')) > 0);
  await requestDeletion(bed.db, (await pasteRow(bed.db, code))!.id);
  const after = find(code);
  proxy.release();
  expect(await before).toMatchObject({ gone: false });
  expect(await after).toMatchObject({ gone: true });
  expect(statements).toHaveLength(2);
});

it('the requests of the api share statements', async () => {
  const code = await newPaste(bed.db);
  const api = await bed.start({ env: { DATABASE_URL: proxy.through(bed.databaseUrl) }, slowGroupMs: 60_000 });
  const lookUps = () => api.statements.filter((text) => text.includes('"pastes" where'));
  const read = async () => (await fetch(`${api.url}/v1/pastes/${code}`)).status;
  const first = read();
  await proxy.holding;
  const others = Array.from({ length: 40 }, read);
  await sleep(500); // until most have arrived
  proxy.release();
  expect(new Set(await Promise.all([first, ...others]))).toEqual(new Set([200]));
  expect(lookUps().length).toBeLessThan(20);
});

it('a look-up that waits for a statement without an answer starts beside it', async () => {
  const code = await newPaste(bed.db);
  find = createFindPaste(db, 20);
  const lost = find(code).catch((error: unknown) => error);
  await proxy.holding;
  expect(await find(code)).toMatchObject({ short_code: code });
  expect(await lost).toBeInstanceOf(DependencyUnavailableError);
});

it('a row that cannot be read stops no other look-up', async () => {
  proxy.release();
  const [bad, good] = [await newPaste(bed.db), await newPaste(bed.db)];
  await sql`ALTER TABLE pastes RENAME TO pastes_kept`.execute(bed.db);
  await sql`CREATE VIEW pastes AS SELECT * FROM pastes_kept
    WHERE CASE WHEN short_code = ${sql.lit(bad)} THEN 1 / (size_bytes - size_bytes) = 0 ELSE true END`.execute(
    bed.db,
  );
  try {
    const ends = await Promise.allSettled(['noSuchCode', bad, good].map(find));
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  } finally {
    await sql`DROP VIEW pastes`.execute(bed.db);
    await sql`ALTER TABLE pastes_kept RENAME TO pastes`.execute(bed.db);
  }
});

const newToken = async () => {
  const { id, token } = await newUser(bed.db);
  return { userId: id, hash: hashOfSecret(token) };
};

it('40 uses of tokens at once are two statements, each gets its own token, and each token is noted', async () => {
  proxy.release();
  const tokens = [await newToken(), { userId: null, hash: hashOfSecret('unknown') }, await newToken()];
  const asked = Array.from({ length: 40 }, (_, n) => tokens[n % tokens.length]!);
  const use = createUseToken(db, 60_000);
  const used = await Promise.all(asked.map(({ hash }) => use(hash.toString('hex'))));
  expect(used.map((found) => found?.userId ?? null)).toEqual(asked.map(({ userId }) => userId));
  expect(used.map((found) => found?.tokenHash)).toEqual(
    asked.map(({ userId, hash }) => (userId === null ? undefined : hash)),
  );
  expect(statements).toHaveLength(2);
  const { rows: noted } = await sql`SELECT FROM api_tokens WHERE last_used_at > now() - interval '1 hour'
    AND user_id = ANY (${tokens.flatMap(({ userId }) => userId ?? [])}::uuid[])`.execute(bed.db);
  expect(noted).toHaveLength(2);
});

it('a token that was revoked before its use is refused, also while a statement that has not seen it is under way', async () => {
  const { userId, hash } = await newToken();
  const use = createUseToken(db, 60_000);
  const before = use(hash.toString('hex'));
  await proxy.holding;
  await until(async () => (await answered('unnoted')) > 0);
  await revokeTokens(bed.db, userId);
  const after = use(hash.toString('hex'));
  proxy.release();
  expect(await before).toMatchObject({ good: true });
  expect(await after).toMatchObject({ good: false });
});
