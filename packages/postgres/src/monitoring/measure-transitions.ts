import { sql, type RawBuilder } from 'kysely';
import { machines, transitionsOf, type Machine, type MachineName } from '@pasteflow/domain';
import type { Database } from '../database/database.ts';
import { within, type Portion } from '../database/one-row.ts';

/**
 * Upper bounds in seconds: from a claim that follows at once to a paste that waits for its deletion. The
 * database has counted with these bounds: a change of the list must empty `transition_statistics` in a
 * migration.
 */
export const stateDurationBounds = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600,
] as const;

const noCounts = [...stateDurationBounds, Infinity].map(() => 0);

/** Counts of the durations up to each bound. The last count is that of all durations. */
const cumulative = sql.join(
  [...stateDurationBounds, 'Infinity'].map(
    (bound) => sql`count(*) FILTER (WHERE seconds <= ${sql.lit(String(bound))}::float8)`,
  ),
);

export interface CountedTransitions {
  /** Rows of `uncounted_transitions`. Fewer than the limit: there were no more, or another run took them. */
  readonly rows: number;
  /** The place of the last one, where the next portion begins; null: there was none. */
  readonly last: string | null;
  readonly transitions: number;
}

interface UncountedPortion extends Portion {
  readonly after?: string | null;
}

/** Names a row by its place in the table. */
export function searchUncounted({ after = null, ...portion }: UncountedPortion): RawBuilder<unknown> {
  return sql`
        SELECT ctid, ctid::text AS name FROM uncounted_transitions
        WHERE ctid > coalesce(${after}, '(0,0)')::tid AND ${within(sql`ctid::text`, portion)} LIMIT ${portion.limit}`;
}

/**
 * Moves up to `limit` rows of `uncounted_transitions` into `transition_statistics`, in one statement. So each
 * transition counts once, whichever process is killed, and however many processes count at once: a row
 * belongs to the one that deletes it. An open transaction delays only its own transitions.
 *
 * A portion begins after the place `after` (null: at the start of the table), so that it does not read again
 * what the portions before it have deleted: a dump that is under way keeps a million such rows. What is
 * inserted before that place meanwhile is left to the next run.
 *
 * Each row has the transitions of one statement of a service: about ten under load, and at most a thousand.
 * `timed` is materialized, because Postgres otherwise computes the seconds of a transition once for each
 * bound.
 */
export async function measureTransitions(
  db: Database,
  uncounted: UncountedPortion,
): Promise<CountedTransitions> {
  const { rows } = await sql<CountedTransitions>`
    WITH taken AS (
      DELETE FROM uncounted_transitions WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM (${searchUncounted(uncounted)}) AS portion))
      RETURNING ctid AS place, machine, "from", "to", seconds
    ), timed AS MATERIALIZED (
      SELECT machine, "from", "to", unnest(seconds)::float8 AS seconds FROM taken
    ), added AS (
      INSERT INTO transition_statistics AS s (machine, "from", "to", count, seconds, buckets)
      SELECT machine, "from", "to", count(*), sum(seconds), ARRAY[${cumulative}] FROM timed
      GROUP BY machine, "from", "to" ORDER BY machine, "from", "to"
      ON CONFLICT (machine, "from", "to") DO UPDATE SET count = s.count + excluded.count, seconds = s.seconds + excluded.seconds,
        buckets = ARRAY(SELECT a + b FROM unnest(s.buckets, excluded.buckets) WITH ORDINALITY AS sums (a, b, n) ORDER BY n)
    )
    SELECT (SELECT count(*) FROM taken)::integer AS rows, (SELECT max(place) FROM taken)::text AS last, (SELECT count(*) FROM timed)::integer AS transitions`.execute(
    db,
  );
  return rows[0] ?? { rows: 0, last: null, transitions: 0 };
}

/** The age of the oldest uncounted transition in seconds; 0: there is none. */
export async function readUncountedSeconds(db: Database): Promise<number> {
  const { rows } = await sql<{ seconds: number }>`
    SELECT coalesce(greatest(0, date_part('epoch', now() - min(at))), 0) AS seconds FROM uncounted_transitions`.execute(
    db,
  );
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
