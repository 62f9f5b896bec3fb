import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { dropOldTransitions, ensureTransitionPartitions, type Database } from '../../src/index.ts';
import { useDatabase } from '../support/database.ts';
import { untilSomebodyWaits } from '../support/locks.ts';

const current = useDatabase({ fresh: 'database' });

const HOUR = 3600;
const DAY = 24 * HOUR;
const LOCK_NOT_AVAILABLE = '55P03';

interface Month {
  /** Of its partition. */
  readonly name: string;
  readonly since: string;
  readonly until: string;
  /** How long ago it ended. */
  readonly endedSecondsAgo: number;
}

/** The month that is this many months from now. */
async function month(fromNow: number): Promise<Month> {
  const { rows } = await sql<Month>`
    SELECT 'state_transitions_' || to_char(m, 'YYYY_MM') AS name, m || 'Z' AS since, m + interval '1 month' || 'Z' AS until,
      extract(epoch FROM now() - (m + interval '1 month') AT TIME ZONE 'UTC')::float8 AS "endedSecondsAgo"
    FROM (SELECT date_trunc('month', now() AT TIME ZONE 'UTC') + make_interval(months => ${fromNow}) AS m) AS month`.execute(
    current.db,
  );
  return rows[0]!;
}

async function makePartition(fromNow: number): Promise<Month> {
  const made = await month(fromNow);
  const { name, since, until } = made;
  await sql`CREATE TABLE ${sql.table(name)} PARTITION OF state_transitions
    FOR VALUES FROM (${sql.lit(since)}) TO (${sql.lit(until)})`.execute(current.db);
  await sql`ALTER TABLE ${sql.table(name)} OWNER TO pasteflow_owner`.execute(current.db);
  return made;
}

async function transition(secondsAgo: number, db: Database = current.db): Promise<void> {
  await sql`INSERT INTO state_transitions (machine, entity, "from", "to", at, actor)
    VALUES ('job', gen_random_uuid(), 'queued', 'processing', now() - make_interval(secs => ${secondsAgo}), 'test')`.execute(
    db,
  );
}

async function partitions(): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'state_transitions'::regclass`.execute(
    current.db,
  );
  return rows.map(({ name }) => name);
}

/** In a session with the time zone of Kiritimati, whose months begin 14 hours before those of UTC. */
async function dropOne(retentionSeconds: number): Promise<string | null> {
  return current.db.transaction().execute(async (tx) => {
    await sql`SET LOCAL TimeZone = 'Pacific/Kiritimati'`.execute(tx);
    const { rows } = await sql<{ name: string | null }>`
      SELECT drop_old_transitions(${retentionSeconds}::float8) AS name`.execute(tx);
    return rows[0]!.name;
  });
}

/** Runs `act` while another transaction reads the audit trail. */
async function whileRead<T>(act: () => Promise<T>): Promise<T> {
  const reader = await current.db.startTransaction().execute();
  try {
    await sql`SELECT FROM state_transitions`.execute(reader);
    return await act();
  } finally {
    await reader.rollback().execute();
  }
}

describe('dropping old transitions', () => {
  it('drops the months that ended before the retention, oldest first', async () => {
    const [later, oldest] = [await makePartition(-5), await makePartition(-7)];
    const kept = await makePartition(-3);
    expect(await dropOldTransitions(current.db, later.endedSecondsAgo - DAY)).toEqual([
      oldest.name,
      later.name,
    ]);
    expect(await partitions()).toContain(kept.name);
  });

  it('counts from the end of the month, in UTC', async () => {
    const { name, endedSecondsAgo } = await makePartition(-3);
    expect(await dropOne(endedSecondsAgo + HOUR)).toBeNull();
    expect(await dropOne(endedSecondsAgo - HOUR)).toBe(name);
  });

  it('empties the default partition once its newest transition is older than the retention', async () => {
    await transition(400 * DAY);
    await transition(300 * DAY);
    expect(await dropOldTransitions(current.db, 350 * DAY)).toEqual([]);
    expect(await dropOldTransitions(current.db, 299 * DAY)).toEqual(['state_transitions_default']);
    expect((await sql`SELECT FROM state_transitions`.execute(current.db)).rows).toEqual([]);
  });

  it('keeps a transition that commits while the drop waits for its lock', async () => {
    await transition(400 * DAY);
    const writing = await current.db.startTransaction().execute();
    await transition(300 * DAY, writing);
    const dropped = dropOne(350 * DAY);
    await untilSomebodyWaits(current.db);
    await writing.commit().execute();
    expect(await dropped).toBeNull();
    expect((await sql`SELECT FROM state_transitions`.execute(current.db)).rows).toHaveLength(2);
  });

  it.each([6.9 * DAY, NaN])('refuses a retention of %s s, which is less than 7 days', async (retention) => {
    await expect(dropOldTransitions(current.db, retention)).rejects.toThrow('at least 7 days');
  });

  it('locks nothing when nothing is old', async () => {
    await transition(300 * DAY);
    expect(await whileRead(() => dropOldTransitions(current.db, 350 * DAY))).toEqual([]);
  });

  it('waits for 2 s at most, since each transition waits behind it, as does the making of a partition', async () => {
    await makePartition(-7);
    const { name } = await month(1);
    await sql`DROP TABLE IF EXISTS ${sql.table(name)}`.execute(current.db);
    const changes = () => [
      dropOldTransitions(current.db, 30 * DAY),
      ensureTransitionPartitions(current.db, 1),
    ];
    await whileRead(() =>
      Promise.all(
        changes().map((change) =>
          expect(change).rejects.toMatchObject({ cause: { code: LOCK_NOT_AVAILABLE } }),
        ),
      ),
    );
  });
});

describe('making partitions', () => {
  it('makes those of this month and the next ones, once', async () => {
    const months = await Promise.all([0, 1, 2].map(month));
    for (const { name } of months) await sql`DROP TABLE IF EXISTS ${sql.table(name)}`.execute(current.db);
    expect(await ensureTransitionPartitions(current.db, 1)).toBe(2);
    expect(await ensureTransitionPartitions(current.db, 2)).toBe(1);
    expect(await ensureTransitionPartitions(current.db, 2)).toBe(0);
    expect(await partitions()).toEqual(expect.arrayContaining(months.map(({ name }) => name)));
  });

  it('leaves a month that has transitions in the default partition as it is, and makes the others', async () => {
    const months = await Promise.all([1, 2, 3].map(month));
    for (const { name } of months) await sql`DROP TABLE IF EXISTS ${sql.table(name)}`.execute(current.db);
    const [, second] = months;
    await transition(second!.endedSecondsAgo + HOUR);
    expect(await ensureTransitionPartitions(current.db, 3)).toBe(2);
    expect(await partitions()).not.toContain(second!.name);
  });

  it.each([-1, 25])('refuses %s months ahead', async (monthsAhead) => {
    await expect(ensureTransitionPartitions(current.db, monthsAhead)).rejects.toThrow('must be 0 to 24');
  });
});
