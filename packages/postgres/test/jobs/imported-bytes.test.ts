import { expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { importPastes, removeOldImportedBytes, secondsUntilImportAllowed } from '../../src/index.ts';
import { useDatabase } from '../support/database.ts';
import { entriesOf, runningJob } from '../support/jobs.ts';

const current = useDatabase();

const age = (seconds: number) =>
  sql`UPDATE imported_bytes SET created_at = created_at - make_interval(secs => ${seconds})`.execute(
    current.db,
  );

it('counts the bytes that the imports of a user have created within the last hour', async () => {
  const [job, other] = [await runningJob(current.db), await runningJob(current.db)];
  await importPastes(current.db, { ...job, entries: entriesOf(job, [0, 1], Buffer.alloc(50)) });
  await age(1800);
  await importPastes(current.db, { ...job, entries: entriesOf(job, [2], Buffer.alloc(50)) });
  const secondsLeft = (maxBytes: number, userId = job.userId) =>
    secondsUntilImportAllowed(current.db, userId, maxBytes);
  expect(await secondsLeft(151)).toBeNull();
  expect(await secondsLeft(1, other.userId)).toBeNull();
  const half = await secondsLeft(150); // when the first batch is an hour old, 50 bytes are left
  expect(half).toBeGreaterThan(1700);
  expect(half).toBeLessThanOrEqual(1800);
  const whole = await secondsLeft(50);
  expect(whole).toBeGreaterThan(3500);
  expect(await removeOldImportedBytes(current.db, { limit: 10 })).toBe(0);
  await age(1800);
  expect(await secondsLeft(150)).toBeNull();
  expect(await removeOldImportedBytes(current.db, { limit: 10 })).toBe(1);
});

it('removes the oldest rows first, and leaves a row that another session has locked to the next run', async () => {
  const { userId } = await runningJob(current.db);
  for (const [bytes, hours] of [
    [1, 2],
    [2, 4],
    [3, 3],
  ])
    await sql`INSERT INTO imported_bytes (user_id, bytes, created_at)
      VALUES (${userId}, ${bytes}, now() - make_interval(hours => ${hours}))`.execute(current.db);
  const lock = await current.db.startTransaction().execute();
  await sql`SELECT FROM imported_bytes WHERE bytes = 2 FOR UPDATE`.execute(lock);
  expect(await removeOldImportedBytes(current.db, { limit: 1 })).toBe(1);
  await lock.commit().execute();
  const { rows } = await sql<{ bytes: number }>`
    SELECT bytes::integer FROM imported_bytes ORDER BY bytes`.execute(current.db);
  expect(rows).toEqual([{ bytes: 1 }, { bytes: 2 }]);
});
