import { sql } from 'kysely';
import { machines, transitionsOf, type Machine, type MachineName } from '@pasteflow/domain';
import type { Database } from '../database/database.ts';

/**
 * Upper bounds in seconds: from a claim that follows at once to a paste that waits for its deletion. The
 * database has counted with these bounds: a change of the list must empty `transition_statistics` in a
 * migration.
 */
export const stateDurationBounds = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600,
] as const;

const noCounts = [...stateDurationBounds, Infinity].map(() => 0);

/**
 * Initial states that no transition leads to: the time in such a state starts with the creation, which needs
 * no query.
 */
const initialOnly = machines
  .filter((machine: Machine) => transitionsOf(machine).every(([, to]) => to !== machine.initial))
  .map((machine) => sql`(${sql.lit(machine.name)}, ${sql.lit(machine.initial)})`);

/** Counts of the durations up to each bound. The last count is that of all durations. */
const cumulative = sql.join(
  [...stateDurationBounds, 'Infinity'].map(
    (bound) => sql`count(*) FILTER (WHERE seconds <= ${sql.lit(String(bound))}::float8)`,
  ),
);

const greatestTransaction = sql.raw(`'18446744073709551615'::xid8`);

/** The time in a UUID of version 7, in milliseconds. */
const madeAt = sql`to_timestamp(('x' || lpad(translate(left(taken.entity::text, 13), '-', ''), 16, '0'))::bit(64)::bigint / 1000.0::float8)`;

/**
 * Adds up to `limit` uncounted transitions to `transition_statistics`, in one statement with the cursor that
 * records the progress. Each transition counts once, whichever process is killed, and however many processes
 * count at once (the second waits for the cursor of the first).
 *
 * Reads only transactions before the xmin of the snapshot. All of them have ended, so that no row can appear
 * before the cursor later, which neither the order of ids nor that of times guarantees. An open transaction
 * that has written rows delays counting until it ends.
 *
 * `timed` is materialized, because Postgres otherwise computes the seconds of a transition once for each bound.
 * `date_part` returns a float8; `extract` returns a numeric, which becomes a float8 by way of its text. Both together
 * were an eighth of what Postgres computed for a paste.
 *
 * The cursor cannot be ahead of the transaction of this statement, which is newer than every snapshot before.
 * If the cursor is ahead, Postgres was restored from a dump. Then the rows after the cursor are those that
 * were not counted before the dump, all of them committed. Once these are counted, counting starts over with
 * the first transaction number, and rows whose ids were counted before the dump are skipped.
 * @returns how many transitions it counted. Fewer than `limit`: there were no more. After a restore, the next
 * call counts the transitions that were made since.
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
    ), timed AS MATERIALIZED (
      SELECT machine, "from", "to",
        greatest(0, date_part('epoch', taken.at - coalesce(earlier.at, CASE substr(entity::text, 15, 1) WHEN '7' THEN ${madeAt} END))) AS seconds
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
 * The age of the first uncounted transition in seconds; 0: there is none. Reads one entry of an index: no
 * visible row has a transaction from the xmax of the snapshot on, except old rows of a restored database.
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
  /** The sum of the times in `from`, in seconds. */
  readonly seconds: number;
  /** How many times were at most each of `stateDurationBounds`; the last element counts all. */
  readonly buckets: readonly number[];
}

/** The statistics of each transition of the machines. A transition that never happened has zeros. */
export async function readTransitionStatistics(db: Database): Promise<readonly TransitionStatistic[]> {
  const rows = await db.selectFrom('transition_statistics').selectAll().execute();
  return machines.flatMap((machine: Machine) =>
    transitionsOf(machine).map(([from, to]): TransitionStatistic => {
      const name = machine.name as MachineName;
      const row = rows.find((each) => each.machine === name && each.from === from && each.to === to);
      const counted = row ?? { count: 0, seconds: 0, buckets: noCounts };
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
