import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestDatabase, startTestPostgres, type TestPostgres } from '@pasteflow/dev-stack/testing';
import { sql } from 'kysely';
import {
  cancelSecretRequest,
  createSecretRequest,
  findRequestOf,
  findSecretRequest,
  insertDeposit,
  listDeposits,
  listSecretRequests,
  removeOldRequests,
  removeTombstones,
  takePlace,
  type Database,
} from '../../src/index.ts';
import { importRows, makeUsers } from '../../src/testing/index.ts';
import { openToFill } from '../support/database.ts';
import { explain } from '../support/explain.ts';
import { FILL_LIMIT_MS, large, mostPages, prepareToFill, small } from '../support/scale.ts';

/** All requests are of one user, so that what reads the user's reads the most. */
interface Scene {
  readonly url: string;
  readonly userId: string;
  readonly requestId: string;
}

const OPEN = codeOf('open', 1);
const actor = 'api/test';
const wrappedKey = Buffer.alloc(113);

let stack: TestPostgres;
const scenes: Scene[] = [];

beforeAll(async () => {
  stack = await startTestPostgres();
  await prepareToFill(stack);
  for (const rows of [small, large]) scenes.push(await makeScene(rows));
}, FILL_LIMIT_MS);

afterAll(() => stack?.stop());

function codeOf(kind: string, n: number): string {
  return kind + String(n).padStart(22 - kind.length, '0');
}

/** A history of requests that were cancelled and of some that expired, each with a deposit, and a few that are open. */
async function makeScene(rows: number): Promise<Scene> {
  const { url } = await createTestDatabase(stack);
  const db = openToFill(url);
  const [user] = await makeUsers(db, 1);
  const userId = user!.id;
  await importRows(db, (importing) =>
    sql`
      WITH request AS (
        INSERT INTO secret_requests (code, user_id, places, taken, status, ended_at, created_at, expires_at)
        SELECT kind || lpad(n::text, 22 - length(kind), '0'), ${userId}, 2, 1, CASE WHEN kind = 'cancelled' THEN 'CANCELLED' ELSE 'OPEN' END,
          CASE WHEN kind = 'cancelled' THEN now() END, now() - interval '40 days' + n * interval '1 second', now() + days * interval '1 day'
        FROM (VALUES ('open', 10, 5), ('cancelled', ${rows}::integer * 3 / 4, 5), ('expired', ${rows}::integer / 4, -5)) AS kinds (kind, count, days),
          generate_series(1, count) AS n
        RETURNING id, code
      )
      INSERT INTO deposits (request_id, number, short_code, wrapped_key) SELECT id, 1, code, ${wrappedKey} FROM request`.execute(
      importing,
    ),
  );
  await sql`VACUUM (ANALYZE) secret_requests, deposits`.execute(db);
  const { id: requestId } = (await findSecretRequest(db, OPEN))!;
  await db.destroy();
  return { url, userId, requestId };
}

const statements: Record<string, (db: Database, scene: Scene) => Promise<unknown>> = {
  'asking for a secret': (db, { userId }) =>
    createSecretRequest(db, {
      code: codeOf('new', 1),
      userId,
      message: null,
      places: 1,
      expiresInSeconds: 3600,
    }),
  'reading a request': (db) => findSecretRequest(db, OPEN),
  'listing the requests of a user': (db, { userId }) =>
    listSecretRequests(db, userId, { limit: 20, after: null }),
  'taking a place': (db) => takePlace(db, OPEN, actor),
  'recording a deposit': (db, { requestId }) =>
    insertDeposit(db, { requestId, number: 2, shortCode: 'new', wrappedKey }),
  'listing the deposits of a request': (db, { requestId }) => listDeposits(db, requestId),
  'finding the request of a deposit': (db) => findRequestOf(db, OPEN),
  'cancelling a request': (db, { userId }) =>
    cancelSecretRequest(db, OPEN, { userId, actor, reason: 'cancelled' }),
  'removing old requests': (db) => removeOldRequests(db, { retentionSeconds: 30 * 86_400, limit: 1000 }),
  'removing tombstones': (db) => removeTombstones(db, { retentionSeconds: 1e9, limit: 1000 }),
};

it.each(Object.keys(statements))('%s reads as many pages of many requests as of few', async (name) => {
  const costs = [];
  for (const scene of scenes) costs.push(await explain(scene.url, (db) => statements[name]!(db, scene)));
  const [few, many] = costs.map(({ buffers }) => buffers) as [number, number];
  process.stderr.write(`${name}: ${few} pages of ${small} requests, ${many} of ${large}\n`);
  expect(costs.flatMap(({ scanned }) => scanned)).toEqual([]);
  expect(many).toBeLessThanOrEqual(mostPages(few));
});
