import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { BUSY_MACHINE_MS } from '@pasteflow/dev-stack/testing';
import { DependencyUnavailableError, QuotaExceededError } from '@pasteflow/domain';
import { claimIdempotencyKey, createDatabase, readStoredUsage, type Database } from '@pasteflow/postgres';
import { contentHashOf, randomShortCode } from '@pasteflow/service-kit';
import { sql } from 'kysely';
import { textAnswer } from '../src/http/answers/answer.ts';
import type { KeyOfRequest } from '../src/http/idempotency/idempotency.ts';
import { PasteInserts } from '../src/storage/paste-inserts.ts';
import { useApi } from './support/api.ts';
import { COMMIT, startHoldingProxy } from './support/holding-proxy.ts';
import { countPastes } from './support/pastes.ts';
import { until } from './support/until.ts';
import { newUser } from './support/users.ts';

const bed = useApi();

const insertsOf = (db: Database) =>
  new PasteInserts({ db, newShortCode: randomShortCode, maxSlugs: null, quotas: null, slowMs: 60_000 });

function newPaste(text: string, userId: string | null = null) {
  const content = Buffer.from(text);
  const options = { title: null, syntax: null, expiresInSeconds: null, visibility: 'unlisted' } as const;
  return {
    ...options,
    content,
    contentHash: contentHashOf(content),
    userId,
    deleteTokenHash: randomBytes(32),
  };
}

async function claimedKey(): Promise<KeyOfRequest> {
  const held = { caller: 'address:192.0.2.1', keyHash: randomBytes(32), claimId: randomUUID() };
  await claimIdempotencyKey(bed.db, {
    ...held,
    fingerprint: randomBytes(32),
    holdSeconds: 60,
    retentionSeconds: 60,
  });
  return { held, seal: () => randomBytes(16) };
}

const answerOf = () => textAnswer(201, 'x', {});

/** Every insert into `pastes` waits while this runs. */
async function whileInsertsWait<T>(run: () => Promise<T>): Promise<T> {
  return await bed.db.transaction().execute(async (tx) => {
    await sql`LOCK TABLE pastes IN SHARE MODE`.execute(tx);
    return await run();
  });
}

/** The first insert waits alone for a lock of the table, and those of `run` form the next group. */
async function asOneGroup<T>(
  inserts: PasteInserts,
  run: () => Promise<T>[],
): Promise<PromiseSettledResult<T>[]> {
  let group: Promise<PromiseSettledResult<T>[]> | undefined;
  let first: Promise<unknown> | undefined;
  await whileInsertsWait(async () => {
    first = inserts.insert(newPaste('first'), null, answerOf);
    group = Promise.allSettled(run());
  });
  await first;
  return await group!;
}

it('an answer that cannot be built creates no paste of its group twice', async () => {
  const before = await countPastes(bed.db);
  const inserts = insertsOf(bed.db);
  const fail = () => {
    throw new Error('no answer');
  };
  const ends = await asOneGroup(inserts, () => [
    inserts.insert(newPaste('a'), null, fail),
    inserts.insert(newPaste('b'), null, answerOf),
  ]);
  expect(ends.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  expect(await countPastes(bed.db)).toBe(before + 3);
});

it('a group of creations with and without keys, whose commit is not confirmed, is not run again', async () => {
  const before = await countPastes(bed.db);
  const proxy = await startHoldingProxy(bed.stack.postgres.port, COMMIT);
  const db = createDatabase({
    url: proxy.through(bed.databaseUrl),
    applicationName: 'test',
    maxConnections: 2,
    onConnectionError: () => {},
  });
  const inserts = insertsOf(db);
  const key = await claimedKey();
  const ends = asOneGroup(inserts, () => [
    inserts.insert(newPaste('a'), key, answerOf),
    inserts.insert(newPaste('b'), null, answerOf),
  ]);
  await proxy.holding;
  await until(async () => (await countPastes(bed.db)) === before + 3);
  await proxy.drop();
  for (const end of await ends)
    expect(end).toEqual({ status: 'rejected', reason: expect.any(DependencyUnavailableError) });
  expect(await countPastes(bed.db)).toBe(before + 3);
  await db.destroy();
  await proxy.stop();
});

it.each(['maxBytes', 'maxStoredBytes'] as const)(
  'a paste that fits is inserted, however often the others of its group exceed %s',
  async (quota) => {
    const user = await newUser(bed.db);
    const used = quota === 'maxBytes' ? 0 : (await readStoredUsage(bed.db, null)).bytes;
    const quotas = {
      maxPastes: null,
      maxBytes: null,
      maxStoredPastes: null,
      maxStoredBytes: null,
      [quota]: used + 100,
    };
    const large = Array.from({ length: 2 }, () => newPaste('x'.repeat(200), user.id));
    const refused: Promise<PromiseSettledResult<unknown>[]>[] = [];
    let isCrowding = false;
    let codes = 0;
    // Before each group that the paste would join there is a large one that runs, and one that is in the group.
    const newShortCode = () => {
      if (isCrowding) return randomShortCode();
      isCrowding = true;
      refused.push(Promise.allSettled(large.map((paste) => inserts.insert(paste, null, answerOf))));
      isCrowding = false;
      codes += 1;
      return randomShortCode();
    };
    const options = { db: bed.db, newShortCode, maxSlugs: null, quotas, slowMs: 60_000 };
    const inserts: PasteInserts = new PasteInserts(options);
    await inserts.insert(newPaste('it fits', user.id), null, answerOf);
    expect(codes).toBe(2); // in the group, and alone
    for (const end of (await Promise.all(refused)).flat())
      expect(end).toEqual({ status: 'rejected', reason: expect.any(QuotaExceededError) });
  },
);

it('groups that are slow hold up no other, at most four run, and at most 10,000 inserts wait, for 5 s', async () => {
  const db = createDatabase({
    url: bed.databaseUrl,
    applicationName: 'slow-groups',
    maxConnections: 10,
    onConnectionError: () => {},
  });
  const inserts = new PasteInserts({ db, newShortCode: randomShortCode, maxSlugs: null, quotas: null });
  const insert = () => inserts.insert(newPaste('x'), null, answerOf);
  const running = async () =>
    (
      await sql`SELECT FROM pg_stat_activity WHERE application_name = 'slow-groups' AND wait_event_type = 'Lock'`.execute(
        bed.db,
      )
    ).rows.length;
  const refused = { status: 'rejected', reason: expect.any(DependencyUnavailableError) };
  const inTime = await whileInsertsWait(async () => {
    const ends = [insert(), insert(), insert()];
    await until(running, (groups) => groups === 2);
    await sleep(600);
    expect(await running()).toBe(2); // the first insert, and the two that came meanwhile
    for (const groups of [3, 4]) {
      ends.push(insert());
      await until(running, (count) => count === groups);
    }
    await sleep(600);
    const calledAt = performance.now();
    const waiting = Array.from({ length: 10_000 }, insert);
    const firstEnd = Promise.race(waiting).catch(() => 'refused');
    expect(await Promise.race([firstEnd, Promise.allSettled([insert()])])).toEqual([refused]); // at once
    expect(await running()).toBe(4);
    const fourSeconds = sleep(Math.max(0, calledAt + 4000 - performance.now()), 'waiting');
    expect(await Promise.race([firstEnd, fourSeconds])).toBe('waiting');
    for (const end of await Promise.allSettled(waiting)) expect(end).toEqual(refused);
    expect(performance.now() - calledAt).toBeLessThan(9000 + BUSY_MACHINE_MS);
    return ends;
  });
  await Promise.all(inTime);
  await db.destroy();
});

it.each([
  ['64 of them', 70, 1],
  ['1 MiB', 20, 60 * 1024],
])('a group has at most %s', async (_name, count, bytes) => {
  const groups: string[] = [];
  const db = createDatabase({
    url: bed.databaseUrl,
    applicationName: 'test',
    maxConnections: 1,
    onConnectionError: () => {},
    onStatement: ({ query }) => groups.push(query.sql),
  });
  const inserts = insertsOf(db);
  const ends = await asOneGroup(inserts, () =>
    Array.from({ length: count }, () => inserts.insert(newPaste('x'.repeat(bytes)), null, answerOf)),
  );
  expect(ends.every(({ status }) => status === 'fulfilled')).toBe(true);
  expect(groups.filter((text) => text.includes('INSERT INTO pastes'))).toHaveLength(3); // with the first insert
  await db.destroy();
});
