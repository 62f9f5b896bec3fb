import {
  dropOldTransitions,
  findEnforcementGaps,
  FORBIDDEN_CHANGE_SQLSTATE,
  invite,
} from '@pasteflow/postgres';
import { makePastes, makeUsers, rewriteTrail } from '@pasteflow/postgres/testing';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { createTombstones } from '../src/sweeps/old-rows.ts';
import { useWorld, running } from './world.ts';

const world = useWorld();

const DAY = 86_400;
const sweep = () =>
  createTombstones({
    db: world.janitorDb,
    tombstoneRetentionSeconds: 30 * DAY,
    jobRetentionSeconds: 20 * DAY,
    transitionRetentionSeconds: 90 * DAY,
  });
const nothing = {
  removed: 0,
  reports: 0,
  requests: 0,
  invitations: 0,
  deliveries: 0,
  partitions_made: 0,
  partitions_dropped: 0,
};
const deleted = (count: number, secondsAgo: number) =>
  makePastes(world.db, count, {
    status: 'PROCESSED',
    createdSecondsAgo: secondsAgo + 60,
    deletion: { status: 'DELETED', secondsAgo },
  });

/** The name of the partition that is this many months from now, and the start of its month. */
async function month(fromNow: number): Promise<{ name: string; since: string; until: string }> {
  const { rows } = await sql<{ name: string; since: string; until: string }>`
    SELECT 'state_transitions_' || to_char(m, 'YYYY_MM') AS name, m::text AS since, (m + interval '1 month')::text AS until
    FROM (SELECT date_trunc('month', now() AT TIME ZONE 'UTC') + make_interval(months => ${fromNow}) AS m) AS month`.execute(
    world.db,
  );
  return rows[0] as { name: string; since: string; until: string };
}

async function makePartition(monthsFromNow: number): Promise<string> {
  const { name, since, until } = await month(monthsFromNow);
  await sql`CREATE TABLE ${sql.id(name)} PARTITION OF state_transitions
    FOR VALUES FROM (${sql.lit(`${since}Z`)}) TO (${sql.lit(`${until}Z`)})`.execute(world.db);
  await sql`ALTER TABLE ${sql.id(name)} OWNER TO pasteflow_owner`.execute(world.db);
  await transitionAt(`${since}Z`);
  return name;
}

async function transitionAt(at: string): Promise<void> {
  await sql`INSERT INTO state_transitions (machine, entity, "from", "to", at, actor)
    VALUES ('paste_upload', gen_random_uuid(), 'IN_PROGRESS', 'PROCESSED', ${at}, 'test')`.execute(world.db);
}

const transitions = () => world.db.selectFrom('state_transitions').selectAll().execute();

async function partitions(): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'state_transitions'::regclass ORDER BY 1`.execute(
    world.db,
  );
  return rows.map(({ name }) => name);
}

describe('tombstones', () => {
  it('removes pastes that were DELETED more than 30 days ago, with their executions, and no others', async () => {
    await deleted(1, 30 * DAY + 60);
    const [young] = await deleted(1, 30 * DAY - 60);
    const [stored] = await makePastes(world.db, 1, { status: 'PROCESSED', createdSecondsAgo: 90 * DAY });
    expect(await sweep().runOnce(running())).toEqual({ ...nothing, removed: 1 });
    const left = await world.db.selectFrom('pastes').select('id').execute();
    expect(new Set(left.map(({ id }) => id))).toEqual(new Set([young?.id, stored?.id]));
    expect(await world.db.selectFrom('task_executions').select('id').execute()).toHaveLength(2);
  });

  it('removes invitations that expired more than 30 days ago, and no others', async () => {
    const users = await makeUsers(world.db, 2);
    for (const [index, lastsSeconds] of [-30 * DAY - 60, -30 * DAY + 60].entries())
      await invite(world.db, {
        userId: users[index]!.id,
        secretHash: Buffer.alloc(32, index),
        lastsSeconds,
      });
    expect(await sweep().runOnce(running())).toEqual({ ...nothing, invitations: 1 });
    const left = await world.db.selectFrom('invitations').select('user_id').execute();
    expect(left).toEqual([{ user_id: users[1]!.id }]);
  });

  it('removes more than a batch in one run', async () => {
    await deleted(2300, 31 * DAY);
    expect(await sweep().runOnce(running())).toEqual({ ...nothing, removed: 2300 });
  });

  it("drops the partitions of months that ended more than 90 days ago, and keeps last month's", async () => {
    const old = [await makePartition(-7), await makePartition(-5)];
    const recent = await makePartition(-1);
    expect(await sweep().runOnce(running())).toEqual({ ...nothing, partitions_dropped: 2 });
    const left = await partitions();
    expect(left).toContain(recent);
    expect(left.filter((name) => old.includes(name))).toEqual([]);
    await sql`DROP TABLE ${sql.id(recent)}`.execute(world.db);
  });

  it('makes the partitions of this month and the next two where they are missing', async () => {
    const names = await Promise.all([0, 1, 2].map(async (fromNow) => (await month(fromNow)).name));
    for (const name of names.slice(1)) await sql`DROP TABLE ${sql.id(name)}`.execute(world.db);
    expect(await sweep().runOnce(running())).toEqual({ ...nothing, partitions_made: 2 });
    expect(await partitions()).toEqual(expect.arrayContaining(names));
    expect(await sweep().runOnce(running())).toEqual(nothing);
  });

  it('drops the default partition once its newest transition is older than 90 days, and makes an empty one', async () => {
    const { rows } = await sql<{ old: string; young: string }>`
      SELECT (now() - interval '91 days')::text AS old, (now() - interval '89 days')::text AS young`.execute(
      world.db,
    );
    await transitionAt(rows[0]?.old ?? '');
    await transitionAt(rows[0]?.young ?? '');
    expect(await sweep().runOnce(running())).toEqual(nothing);
    expect(await transitions()).toHaveLength(2);

    await rewriteTrail(world.db, (tx) =>
      sql`DELETE FROM state_transitions WHERE at = ${rows[0]?.young ?? ''}`.execute(tx),
    );
    expect(await sweep().runOnce(running())).toEqual({ ...nothing, partitions_dropped: 1 });
    expect(await transitions()).toHaveLength(0);
    await transitionAt(rows[0]?.old ?? '');
    expect(await transitions()).toHaveLength(1);
    expect(await findEnforcementGaps(world.db)).toEqual([]);
  });

  it('guards the partitions that it makes', async () => {
    const { name } = await month(2);
    await sql`DROP TABLE ${sql.id(name)}`.execute(world.db);
    expect(await sweep().runOnce(running())).toEqual({ ...nothing, partitions_made: 1 });
    for (const statement of ['TRUNCATE', 'DELETE FROM'])
      await expect(sql`${sql.raw(statement)} ${sql.id(name)}`.execute(world.db)).rejects.toMatchObject({
        code: FORBIDDEN_CHANGE_SQLSTATE,
      });
    expect(await findEnforcementGaps(world.db)).toEqual([]);
  });

  it('refuses a retention of less than 7 days', async () => {
    await expect(dropOldTransitions(world.db, 6.9 * DAY)).rejects.toThrow('at least 7 days');
    await expect(dropOldTransitions(world.db, NaN)).rejects.toThrow('at least 7 days');
  });
});
