import { expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { countRetryable, findRetryable, retryFailed } from '../../src/index.ts';
import { makePastes, type MadePaste, type PasteShape } from '../../src/testing/index.ts';
import { useDatabase } from '../support/database.ts';

const current = useDatabase();

/** A paste whose payload is kept, as the settlement of a paste that FAILED does. */
async function makePaste(shape: PasteShape): Promise<MadePaste> {
  const [paste] = await makePastes(current.db, 1, shape);
  await sql`INSERT INTO failed_payloads (paste_id, content) VALUES (${paste!.id}, 'made for a test')`.execute(
    current.db,
  );
  return paste!;
}

const retry = (shortCode: string) => retryFailed(current.db, [shortCode], { actor: 'ops', reason: null });

async function find(since = new Date(0), after: string | null = null, limit = 10): Promise<string[]> {
  const found = await findRetryable(current.db, { since, after, limit });
  return found.map(({ failedId }) => failedId);
}

it.each<[string, PasteShape]>([
  ['is PROCESSED', { status: 'PROCESSED' }],
  [
    'is being deleted',
    { status: 'FAILED', deletion: { status: 'DELETION_IN_PROGRESS', secondsAgo: 10 }, expiresInSeconds: 60 },
  ],
  ['has expired', { status: 'FAILED', expiresInSeconds: -1 }],
])('a paste that %s is neither found nor retried, although its payload is there', async (_what, shape) => {
  const { shortCode } = await makePaste(shape);
  expect(await retry(shortCode)).toEqual([]);
  expect(await find()).toEqual([]);
  expect(await countRetryable(current.db, {})).toBe(0);
});

it('a paste that never expires is found and retried', async () => {
  const { id, shortCode } = await makePaste({ status: 'FAILED', expiresInSeconds: null });
  expect(await find()).toEqual([id]);
  expect(await retry(shortCode)).toHaveLength(1);
});

it('a paste that somebody gave an execution by hand is not retried until that execution is gone', async () => {
  const { id, shortCode } = await makePaste({ status: 'FAILED' });
  await sql`INSERT INTO task_executions (kind, subject_id, attempt) VALUES ('upload', ${id}, 7)`.execute(
    current.db,
  );
  expect(await retry(shortCode)).toEqual([]);
  await sql`DELETE FROM task_executions WHERE subject_id = ${id} AND attempt = 7`.execute(current.db);
  expect(await retry(shortCode)).toHaveLength(1);
});

it('what failed since a time is found in the order of the ids, in pages', async () => {
  const made = { status: 'FAILED', createdSecondsAgo: 100 } as const;
  const ids = [await makePaste(made), await makePaste(made), await makePaste(made)].map(({ id }) => id);
  await makePaste({ status: 'FAILED', createdSecondsAgo: 300 });
  const since = new Date(Date.now() - 200_000);
  expect(await find(since)).toEqual(ids);
  expect(await find(since, null, 2)).toEqual(ids.slice(0, 2));
  expect(await find(since, ids[1], 2)).toEqual(ids.slice(2));
  expect(await find(since, ids[2], 2)).toEqual([]);
  expect(await countRetryable(current.db, { since })).toBe(3);
});
