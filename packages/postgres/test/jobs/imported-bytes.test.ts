import { expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { importPastes, secondsUntilBytesAllowed } from '../../src/index.ts';
import { useDatabase } from '../support/database.ts';
import { entriesOf, runningJob } from '../support/jobs.ts';

const current = useDatabase();

const age = (seconds: number) =>
  sql`UPDATE rate_limits SET expire = expire - ${seconds * 1000}::bigint`.execute(current.db);

it('counts the bytes that the imports of a user create within an hour', async () => {
  const [job, other] = [await runningJob(current.db), await runningJob(current.db)];
  const secondsLeft = (maxBytes: number, userId = job.userId) =>
    secondsUntilBytesAllowed(current.db, userId, maxBytes);
  await importPastes(current.db, { ...job, entries: entriesOf(job, [0, 1], Buffer.alloc(50)) });
  await age(1800);
  await importPastes(current.db, { ...job, entries: entriesOf(job, [2], Buffer.alloc(50)) });
  expect(await secondsLeft(151)).toBeNull();
  expect(await secondsLeft(1, other.userId)).toBeNull();
  const whole = await secondsLeft(150);
  expect(whole).toBeGreaterThan(1700);
  expect(whole).toBeLessThanOrEqual(1800);
  await age(1800);
  expect(await secondsLeft(1)).toBeNull();
  await importPastes(current.db, { ...job, entries: entriesOf(job, [3], Buffer.alloc(50)) });
  expect(await secondsLeft(51)).toBeNull();
  expect(await secondsLeft(50)).toBeGreaterThan(3500);
});

it('counts more than 32 bits', async () => {
  const job = await runningJob(current.db);
  await importPastes(current.db, { ...job, entries: entriesOf(job, [0], Buffer.alloc(50)) });
  await sql`UPDATE rate_limits SET points = 5000000000`.execute(current.db);
  await importPastes(current.db, { ...job, entries: entriesOf(job, [1], Buffer.alloc(50)) });
  expect(await secondsUntilBytesAllowed(current.db, job.userId, 5_000_000_050)).not.toBeNull();
  expect(await secondsUntilBytesAllowed(current.db, job.userId, 5_000_000_051)).toBeNull();
});
