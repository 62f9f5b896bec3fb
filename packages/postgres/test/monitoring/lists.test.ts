import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import {
  listJobsOfAll,
  listLeasesOf,
  listOpenErasures,
  listPastesOfAll,
  listUsers,
  listWorkers,
  type ListedPasteState,
  type Page,
  type Place,
} from '../../src/index.ts';
import { makeJobs, makePastes, makeUsers } from '../../src/testing/index.ts';
import { useDatabase } from '../support/database.ts';

const current = useDatabase();

async function twoUsers() {
  const [one, other] = await makeUsers(current.db, 2);
  return [one!, other!] as const;
}

/** All rows of a list, page after page. */
async function all<Row>(
  read: (page: { limit: number; after: Place | null }) => Promise<Page<Row>>,
  limit: number,
): Promise<readonly Row[]> {
  const found: Row[] = [];
  let after: Place | null = null;
  do {
    const page: Page<Row> = await read({ limit, after });
    expect(page.rows.length).toBeLessThanOrEqual(limit);
    found.push(...page.rows);
    after = page.next;
  } while (after !== null);
  return found;
}

interface Asked {
  readonly state: ListedPasteState;
  readonly title: string | null;
  readonly userId: string | null;
}

const anything: Asked = { state: 'there', title: null, userId: null };

const codesOf = async (asked: Partial<Asked>, maxScanned?: number) =>
  (await all((page) => listPastesOfAll(current.db, { ...anything, ...asked }, page, maxScanned), 3)).map(
    ({ shortCode }) => shortCode,
  );

const title = (code: string, text: string) =>
  sql`UPDATE pastes SET title = ${text} WHERE short_code = ${code}`.execute(current.db);

describe('the list of pastes', () => {
  it('has each paste once, the newest first, in pages', async () => {
    const made = [];
    for (let n = 0; n < 10; n++)
      made.push(...(await makePastes(current.db, 1, { status: 'PROCESSED', createdSecondsAgo: 100 - n })));
    expect(await codesOf({})).toEqual(made.map(({ shortCode }) => shortCode).toReversed());
  });

  it('chooses by state, by owner, and by a part of the title in any case', async () => {
    const { db } = current;
    const [anna, ben] = await twoUsers();
    const make = async (code: string, shape: object) =>
      await makePastes(db, 1, { shortCodes: [code], status: 'PROCESSED', ...shape } as never);
    await make('ofanna', { userId: anna.id });
    await make('waits', { userId: anna.id, status: 'IN_PROGRESS' });
    await make('waitstoo', { status: 'IN_PROGRESS' });
    await make('failed', { userId: ben.id, status: 'FAILED' });
    await make('expired', { userId: anna.id, expiresInSeconds: -1 });
    await make('deleted', {
      userId: anna.id,
      expiresInSeconds: -1,
      deletion: { status: 'DELETED', secondsAgo: 1 },
    });
    await make('asked', { userId: ben.id });
    await sql`UPDATE pastes SET deletion_requested_at = now() WHERE short_code = 'asked'`.execute(db);
    await title('ofanna', 'Die STRASSE nach Köln');
    await title('failed', 'Strasse');
    expect(await codesOf({})).toEqual(['failed', 'waitstoo', 'waits', 'ofanna']);
    expect(await codesOf({ state: 'in_progress' })).toEqual(['waitstoo', 'waits']);
    expect(await codesOf({ state: 'processed' })).toEqual(['ofanna']);
    expect(await codesOf({ state: 'failed' })).toEqual(['failed']);
    expect(await codesOf({ state: 'deleted' })).toEqual(['asked', 'deleted', 'expired']);
    expect(await codesOf({ userId: anna.id })).toEqual(['waits', 'ofanna']);
    expect(await codesOf({ userId: anna.id, state: 'in_progress' })).toEqual(['waits']);
    expect(await codesOf({ userId: anna.id, state: 'deleted' })).toEqual(['deleted', 'expired']);
    expect(await codesOf({ title: 'strasse' })).toEqual(['failed', 'ofanna']);
    expect(await codesOf({ title: 'KÖLN' })).toEqual(['ofanna']);
    expect(await codesOf({ title: '%' })).toEqual([]);
  });

  it('stops a search after so many rows, and goes on there', async () => {
    for (let n = 0; n < 20; n++)
      await makePastes(current.db, 1, { status: 'PROCESSED', shortCodes: [`paste${n}`] });
    for (const code of ['paste1', 'paste2', 'paste18']) await title(code, 'wanted');
    const first = await listPastesOfAll(
      current.db,
      { ...anything, title: 'wanted' },
      { limit: 3, after: null },
      5,
    );
    expect(first.rows.map(({ shortCode }) => shortCode)).toEqual(['paste18']);
    expect(first.next).not.toBeNull();
    expect(await codesOf({ title: 'wanted' }, 5)).toEqual(['paste18', 'paste2', 'paste1']);
  });
});

it('lists jobs by state, type and owner, the newest first', async () => {
  const { db } = current;
  const [anna, ben] = await twoUsers();
  const make = async (userId: string, jobType: string, status: 'queued' | 'failed' | 'completed') =>
    (await makeJobs(db, 1, { userId, jobType, status }))[0]!.id;
  const exported = await make(anna.id, 'export', 'completed');
  const waiting = await make(ben.id, 'import', 'queued');
  const failed = await make(anna.id, 'import', 'failed');
  const other = await make(ben.id, 'export', 'failed');
  const ids = async (asked: object, maxScanned?: number) =>
    (
      await all(
        (page) =>
          listJobsOfAll(db, { status: null, jobType: null, userId: null, ...asked }, page, maxScanned),
        1,
      )
    ).map(({ id }) => id);
  expect(await ids({})).toEqual([other, failed, waiting, exported]);
  expect(await ids({ status: 'queued' })).toEqual([waiting]);
  expect(await ids({ status: 'failed' }, 2)).toEqual([other, failed]);
  expect(await ids({ jobType: 'export' }, 1)).toEqual([other, exported]);
  expect(await ids({ userId: anna.id, status: 'failed' })).toEqual([failed]);
  expect(await ids({ userId: anna.id, jobType: 'export' })).toEqual([exported]);
});

describe('the list of users', () => {
  const names = async (
    text: string | null,
    { limit = 2, maxScanned }: { limit?: number; maxScanned?: number } = {},
  ) => {
    const found: string[] = [];
    let after: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof listUsers>> = await listUsers(
        current.db,
        { text, after, limit, hasQuotas: false },
        maxScanned,
      );
      found.push(...page.users.map(({ name }) => name));
      after = page.next;
    } while (after !== null);
    return found;
  };
  const make = (...users: readonly string[]) =>
    sql`INSERT INTO users (name) SELECT unnest(${users}::text[])`.execute(current.db);

  it('has them by name, without the erased, and finds a part of a name, in pages', async () => {
    await make('zoe', 'anna', 'Ben', 'hannah', 'carl', 'gone');
    await sql`UPDATE users SET erased_at = now() WHERE name = 'gone'`.execute(current.db);
    await sql`UPDATE users SET shown_name = 'Carl Anders' WHERE name = 'carl'`.execute(current.db);
    expect(await names(null)).toEqual(['Ben', 'anna', 'carl', 'hannah', 'zoe']);
    expect(await names('AN')).toEqual(['anna', 'carl', 'hannah']);
    expect(await names('AN', { maxScanned: 1 })).toEqual(['anna', 'carl', 'hannah']);
  });

  it('finds an exact name or id at once, and first', async () => {
    await make('a1', 'b1', 'c1', 'z1', 'z');
    const first = async (text: string) =>
      (await listUsers(current.db, { text, after: null, limit: 1, hasQuotas: false }, 1)).users.map(
        ({ name }) => name,
      );
    expect(await first('z')).toEqual(['z']);
    const { rows } = await sql<{ id: string }>`SELECT id FROM users WHERE name = 'z1'`.execute(current.db);
    expect(await first(rows[0]!.id.toUpperCase())).toEqual(['z1']);
    expect(await names('z')).toEqual(['z', 'z1']);
    await make('az', 'bz');
    expect(await names('z', { limit: 1 })).toEqual(['z', 'az', 'bz', 'z1']); // and on no further page
  });

  it('says what each of them has, counted to a bound, or by the quotas', async () => {
    const { db } = current;
    const [user, other] = await twoUsers();
    await makePastes(db, 3, { status: 'PROCESSED', userId: user.id, content: Buffer.alloc(10) });
    await makePastes(db, 1, { status: 'PROCESSED', userId: user.id, expiresInSeconds: -1 });
    await makePastes(db, 201, { status: 'PROCESSED', userId: other.id, content: Buffer.alloc(10) });
    await makeJobs(db, 2, { userId: user.id, status: 'completed' });
    await sql`INSERT INTO api_tokens (user_id, name, token_hash, revoked_at) VALUES
      (${user.id}, 'a', sha256('a'), NULL), (${user.id}, 'b', sha256('b'), now())`.execute(db);
    await sql`INSERT INTO stored_usage VALUES (${user.id}, 0, 7, 70), (${user.id}, -1, -2, -20)`.execute(db);
    const of = async (hasQuotas: boolean) => {
      const { users } = await listUsers(db, { text: null, after: null, limit: 10, hasQuotas });
      return Object.fromEntries(
        users.map(({ id, pastes, bytes, jobs, tokens }) => [id, { pastes, bytes, jobs, tokens }]),
      );
    };
    const exactly = (count: number) => ({ count, approximate: false });
    const counted = await of(false);
    expect(counted[user.id]).toEqual({
      pastes: exactly(3),
      bytes: exactly(30),
      jobs: exactly(2),
      tokens: exactly(1),
    });
    expect(counted[other.id]).toMatchObject({ pastes: { count: 200, approximate: true } });
    expect((await of(true))[user.id]).toMatchObject({ pastes: exactly(5), bytes: exactly(50) });
  });
});

it('lists the workers that hold leases, and what each of them does', async () => {
  const { db } = current;
  const [user] = await makeUsers(db, 1);
  const running = (workerId: string, leaseSeconds: number) =>
    ({ status: 'RUNNING', workerId, leaseSeconds }) as const;
  await makePastes(db, 2, { status: 'IN_PROGRESS', execution: running('upload-worker/b', 6) });
  await makePastes(db, 1, {
    status: 'IN_PROGRESS',
    shortCodes: ['held'],
    createdSecondsAgo: 90,
    execution: running('upload-worker/a', -3),
  });
  await makePastes(db, 1, { status: 'IN_PROGRESS' });
  const [job] = await makeJobs(db, 1, {
    userId: user!.id,
    status: 'processing',
    createdSecondsAgo: 30,
    execution: running('upload-worker/a', 6),
  });
  const time = { oldestAt: expect.any(Date), leasedUntil: expect.any(Date) };
  expect(await listWorkers(db)).toEqual([
    { worker: 'upload-worker/a', uploads: 1, jobs: 1, deliveries: 0, overdue: 1, ...time },
    { worker: 'upload-worker/b', uploads: 2, jobs: 0, deliveries: 0, overdue: 0, ...time },
  ]);
  expect((await listLeasesOf(db, 'upload-worker/a', 10)).map(({ kind, subject }) => [kind, subject])).toEqual(
    [
      ['upload', 'held'],
      ['job', job!.id],
    ],
  );
  expect(await listLeasesOf(db, 'upload-worker/c', 10)).toEqual([]);
});

it('lists the erasures that are not done, oldest first, with what is left', async () => {
  const { db } = current;
  const users = await makeUsers(db, 3);
  for (const [n, { id }] of users.entries())
    await sql`INSERT INTO erasures (user_id, pastes, jobs, created_at) VALUES (${id}, 9, 8, now() - make_interval(hours => ${n}))`.execute(
      db,
    );
  const [, , oldest] = users;
  await makePastes(db, 2, { status: 'PROCESSED', userId: oldest!.id });
  await makeJobs(db, 1, { userId: oldest!.id, status: 'completed' });
  await sql`INSERT INTO erasures (user_id, pastes, jobs) VALUES (gen_random_uuid(), 1, 1)`.execute(db);
  for (const change of [sql`status = 'at_work'`, sql`status = 'done', done_at = now()`])
    await sql`UPDATE erasures SET ${change} WHERE pastes = 1`.execute(db);
  const found = await all((page) => listOpenErasures(db, page), 1);
  expect(found.map(({ userId }) => userId)).toEqual(users.map(({ id }) => id).toReversed());
  expect(found[0]).toMatchObject({
    status: 'requested',
    pastes: 9,
    jobs: 8,
    pastesLeft: { count: 2, approximate: false },
    jobsLeft: { count: 1, approximate: false },
  });
});
