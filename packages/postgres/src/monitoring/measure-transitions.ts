import { sql } from 'kysely';
import { machines, transitionsOf, type Machine, type MachineName } from '@pasteflow/domain';
import type { Database } from '../database/database.ts';

/**
 * Seconds: from a claim that follows at once to a paste that waits for its deletion. What is counted in the database was counted with
 * these: who changes them has to empty `transition_statistics` in a migration.
 */
export const stateDurationBounds = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600,
] as const;

const noneYet = [...stateDurationBounds, Infinity].map(() => 0);

/** States that nothing leads back to: what is in one has been since it was made, and needn't be looked up. */
const initialOnly = machines
  .filter((machine: Machine) => transitionsOf(machine).every(([, to]) => to !== machine.initial))
  .map((machine) => sql`(${sql.lit(machine.name)}, ${sql.lit(machine.initial)})`);

/** How many of an entity's durations end up to each bound; the last is all of them. */
const cumulative = sql.join(
  [...stateDurationBounds, 'Infinity'].map(
    (bound) => sql`count(*) FILTER (WHERE seconds <= ${sql.lit(String(bound))}::float8)`,
  ),
);

const greatestTransaction = sql.raw(`'18446744073709551615'::xid8`);

/** The time that a UUID of version 7 was made at, to the millisecond. */
const madeAt = sql`to_timestamp(('x' || lpad(translate(left(taken.entity::text, 13), '-', ''), 16, '0'))::bit(64)::bigint / 1000.0)`;

/**
 * Adds up to `limit` transitions that haven't been counted to `transition_statistics`, in one statement with the cursor that says so: each
 * counts once, whoever is killed when, and however many do it at once (the second waits for the first one's cursor).
 *
 * Only transactions before the snapshot's xmin are read. All of them have ended, so that nothing can come to stand before the cursor any
 * more, which neither the order of ids nor that of times could promise. A transaction that has written and stays open holds them up until
 * it ends. The cursor can't be ahead of this statement's own transaction, which is newer than every snapshot there was: if it is,
 * Postgres was restored from a dump. What stands behind the cursor then is what the former life hadn't counted, all of it committed. Once
 * that is counted, transactions are counted from the beginning, and what the ids say was counted before is left out.
 * @returns how many it counted: fewer than `limit` if there were no more, but after a restore for those of the new life, which are the next call's
 */
export async function measureTransitions(db: Database, { limit }: { limit: number }): Promise<number> {
  const { rows } = await sql<{ counted: number }>`
    WITH place AS MATERIALIZED (
      SELECT txid, id, ids_above, restored,
        CASE WHEN restored THEN ${greatestTransaction} ELSE pg_snapshot_xmin(pg_current_snapshot()) END AS until
      FROM (SELECT *, txid > pg_current_xact_id() AS restored FROM transition_cursor FOR UPDATE) AS cursor
    ), taken AS MATERIALIZED (
      SELECT t.* FROM place CROSS JOIN LATERAL (
        SELECT machine, entity, "from", "to", at, txid, id FROM state_transitions s
        WHERE (s.txid, s.id) > (place.txid, place.id) AND s.txid < place.until AND s.id > place.ids_above AND s.txid IS NOT NULL
        ORDER BY s.txid, s.id LIMIT ${limit}
      ) AS t
    ), timed AS (
      SELECT machine, "from", "to",
        greatest(0, extract(epoch FROM taken.at - coalesce(earlier.at, CASE substr(entity::text, 15, 1) WHEN '7' THEN ${madeAt} END)))::float8 AS seconds
      FROM taken LEFT JOIN LATERAL (
        SELECT at FROM state_transitions e
        WHERE e.entity = taken.entity AND e.machine = taken.machine AND e.at <= taken.at AND e.id < taken.id
          AND (taken.machine, taken."from") NOT IN (${sql.join(initialOnly)})
        ORDER BY e.at DESC, e.id DESC LIMIT 1
      ) AS earlier ON true
    ), added AS (
      INSERT INTO transition_statistics AS s (machine, "from", "to", count, seconds, buckets)
      SELECT machine, "from", "to", count(*), coalesce(sum(seconds), 0), ARRAY[${cumulative}] FROM timed
      GROUP BY machine, "from", "to" ORDER BY machine, "from", "to"
      ON CONFLICT (machine, "from", "to") DO UPDATE SET count = s.count + excluded.count, seconds = s.seconds + excluded.seconds,
        buckets = ARRAY(SELECT a + b FROM unnest(s.buckets, excluded.buckets) WITH ORDINALITY AS sums (a, b, n) ORDER BY n)
    ), counted AS (
      SELECT count(*)::integer AS rows, coalesce(max(id), 0) AS greatest_id FROM taken
    ), last AS (
      SELECT txid, id FROM taken ORDER BY txid DESC, id DESC LIMIT 1
    )
    UPDATE transition_cursor SET
      txid = CASE WHEN rows = ${limit} THEN last.txid WHEN restored THEN '0' ELSE greatest(place.until, place.txid) END,
      id = CASE WHEN rows = ${limit} THEN last.id WHEN restored OR place.until > place.txid THEN 0 ELSE place.id END,
      greatest_id = greatest(transition_cursor.greatest_id, counted.greatest_id),
      ids_above = CASE WHEN restored AND rows < ${limit} THEN greatest(transition_cursor.greatest_id, counted.greatest_id)
        ELSE place.ids_above END
    FROM place, counted LEFT JOIN last ON true RETURNING counted.rows AS counted`.execute(db);
  return rows[0]?.counted ?? 0;
}

/**
 * How old the first transition is that hasn't been counted, in seconds; 0: there is none. One step in an index: nothing that is visible has a
 * transaction from the snapshot's xmax on, but for the old rows of a database that was restored.
 */
export async function readUncountedSeconds(db: Database): Promise<number> {
  const { rows } = await sql<{ seconds: number }>`
    SELECT greatest(0, extract(epoch FROM now() - first.at))::float8 AS seconds
    FROM transition_cursor AS place CROSS JOIN LATERAL (
      SELECT at FROM state_transitions s
      WHERE (s.txid, s.id) > (place.txid, place.id) AND s.txid < pg_snapshot_xmax(pg_current_snapshot())
        AND s.id > place.ids_above AND s.txid IS NOT NULL
      ORDER BY s.txid, s.id LIMIT 1
    ) AS first`.execute(db);
  return rows[0]?.seconds ?? 0;
}

export interface TransitionStatistic {
  readonly machine: MachineName;
  readonly from: string;
  readonly to: string;
  readonly count: number;
  /** How long what was moved had been in `from`, in sum. */
  readonly seconds: number;
  /** How many had been there for at most each of `stateDurationBounds`, and last how many there are. */
  readonly buckets: readonly number[];
}

/** Each transition of the machines with what has been counted of it, also those that never happened. */
export async function readTransitionStatistics(db: Database): Promise<readonly TransitionStatistic[]> {
  const rows = await db.selectFrom('transition_statistics').selectAll().execute();
  return machines.flatMap((machine: Machine) =>
    transitionsOf(machine).map(([from, to]): TransitionStatistic => {
      const name = machine.name as MachineName;
      const row = rows.find((each) => each.machine === name && each.from === from && each.to === to);
      const counted = row ?? { count: 0, seconds: 0, buckets: noneYet };
      return {
        machine: name,
        from,
        to,
        count: Number(counted.count),
        seconds: counted.seconds,
        buckets: counted.buckets.map(Number),
      };
    }),
  );
}
