import { beforeEach, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { listExportable, type ExportablePaste, type ExportFilter, type Place } from '../../src/index.ts';
import { makePastes, makeUsers } from '../../src/testing/index.ts';
import { useDatabase } from '../support/database.ts';

const current = useDatabase({ fresh: 'file' });
let userId: string;

beforeEach(async () => {
  const [user] = await makeUsers(current.db, 1);
  userId = user!.id;
});

async function exported(only: Partial<ExportFilter> = {}, limit = 2): Promise<readonly ExportablePaste[]> {
  const filter = { userId, createdAfter: null, createdBefore: null, status: null, ...only };
  const rows = [];
  let after: Place | null = null;
  do {
    const page = await listExportable(current.db, filter, { limit, after });
    expect(page.rows.length).toBeLessThanOrEqual(limit);
    rows.push(...page.rows);
    after = page.next;
  } while (after !== null);
  return rows;
}

const codes = (rows: readonly { shortCode: string }[]) => rows.map(({ shortCode }) => shortCode);

it('an export has every live paste of its user, oldest first, in any upload state', async () => {
  const failed = await makePastes(current.db, 2, { userId, status: 'FAILED', createdSecondsAgo: 10 });
  const open = await makePastes(current.db, 1, { userId, status: 'IN_PROGRESS', createdSecondsAgo: 30 });
  const stored = await makePastes(current.db, 3, {
    userId,
    status: 'PROCESSED',
    createdSecondsAgo: 20,
    visibility: 'private',
    expiresInSeconds: 60,
  });
  const rows = await exported();
  expect(rows.map(({ status }) => status)).toEqual([
    'IN_PROGRESS',
    'PROCESSED',
    'PROCESSED',
    'PROCESSED',
    'FAILED',
    'FAILED',
  ]);
  expect(codes(rows).toSorted()).toEqual(codes([...failed, ...open, ...stored]).toSorted());
  expect(rows[1]).toMatchObject({
    visibility: 'private',
    title: null,
    syntax: null,
    contentHash: expect.stringMatching(/^sha256:/),
    sizeBytes: 15,
    createdAt: expect.any(Date),
    expiresAt: expect.any(Date),
  });
  expect(rows[1]).not.toHaveProperty('wanted');
});

it('an export leaves out expired, claimed and deleted pastes, and those of other users or of none', async () => {
  const [other] = await makeUsers(current.db, 1);
  await makePastes(current.db, 1, { userId, status: 'PROCESSED', expiresInSeconds: -1 });
  for (const status of ['DELETION_IN_PROGRESS', 'DELETED'] as const) {
    await makePastes(current.db, 1, { userId, status: 'PROCESSED', deletion: { status, secondsAgo: 1 } });
  }
  await makePastes(current.db, 1, { userId: other!.id, status: 'PROCESSED' });
  await makePastes(current.db, 1, { status: 'PROCESSED' });
  const [own] = await makePastes(current.db, 1, { userId, status: 'PROCESSED' });
  expect(codes(await exported())).toEqual([own!.shortCode]);
});

it('an export can be filtered by status; pages without a match lead to the next pages', async () => {
  await makePastes(current.db, 7, { userId, status: 'PROCESSED', createdSecondsAgo: 90 });
  const [failed] = await makePastes(current.db, 1, { userId, status: 'FAILED', createdSecondsAgo: 30 });
  const [open] = await makePastes(current.db, 1, { userId, status: 'IN_PROGRESS', createdSecondsAgo: 60 });
  expect(codes(await exported({ status: 'FAILED' }))).toEqual([failed!.shortCode]);
  expect(codes(await exported({ status: 'IN_PROGRESS' }))).toEqual([open!.shortCode]);
  expect(await exported({ status: 'PROCESSED' })).toHaveLength(7);
});

it('exports of two adjacent time spans have each paste once: the start is included, the end is not', async () => {
  for (const createdSecondsAgo of [50, 40, 30, 20, 10]) {
    await makePastes(current.db, 1, { userId, status: 'PROCESSED', createdSecondsAgo });
  }
  await sql`UPDATE pastes SET created_at = date_trunc('milliseconds', created_at) WHERE user_id = ${userId}`.execute(
    current.db,
  );
  const all = await exported();
  const middle = all[2]!.createdAt;
  expect(codes(await exported({ createdBefore: middle }))).toEqual(codes(all.slice(0, 2)));
  expect(codes(await exported({ createdAfter: middle }))).toEqual(codes(all.slice(2)));
  expect(
    codes(await exported({ createdAfter: all[1]!.createdAt, createdBefore: all[4]!.createdAt })),
  ).toEqual(codes(all.slice(1, 4)));
});

it('an export that is running gets new pastes at its end, and no paste twice', async () => {
  const before = await makePastes(current.db, 5, { userId, status: 'PROCESSED' });
  const filter = { userId, createdAfter: null, createdBefore: null, status: null };
  const first = await listExportable(current.db, filter, { limit: 3, after: null });
  const [late] = await makePastes(current.db, 1, { userId, status: 'IN_PROGRESS', createdSecondsAgo: 0 });
  const rest = await listExportable(current.db, filter, { limit: 9, after: first.next });
  expect(rest.next).toBeNull();
  expect(rest.rows.at(-1)?.shortCode).toBe(late!.shortCode);
  expect(codes([...first.rows, ...rest.rows]).toSorted()).toEqual(codes([...before, late!]).toSorted());
});
