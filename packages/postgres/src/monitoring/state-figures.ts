import { sql } from 'kysely';
import { isTerminal, machines, statesOf, type Machine, type MachineName } from '@pasteflow/domain';
import type { Database } from '../database/database.ts';
import type { ExecutionKind } from '../schema/task-executions.ts';

/** Nothing is counted further: what it costs to look is then the same on any table and under any backlog. */
export const MOST_COUNTED = 100_000;

/** The api sends within moments of the commit, and the relay within 10 s what the api could not: only then is there something to tell. */
export const UNSENT_AFTER_SECONDS = 10;

export interface StateFigure {
  readonly machine: MachineName;
  readonly state: string;
  /** How many are in the state: at most `MOST_COUNTED`. */
  readonly count: number;
  /** How long the oldest of those counted has been there; null: there is none. */
  readonly oldestSeconds: number | null;
}

export interface KindFigures {
  readonly kind: ExecutionKind;
  /** RUNNING past their lease. */
  readonly zombies: number;
  /** Due for `UNSENT_AFTER_SECONDS`, and no message was ever sent for them. */
  readonly unsent: number;
  /** Since when the oldest has been due for which a message was sent; null: there is none. */
  readonly oldestSentSeconds: number | null;
}

export interface StateFigures {
  /** One a state that isn't terminal, but for NOT_EXPIRED. */
  readonly states: readonly StateFigure[];
  readonly kinds: readonly KindFigures[];
}

const kinds: readonly ExecutionKind[] = ['upload', 'job'];

/** In the order of the index, named whole: for any other, Postgres reads and sorts all of a backlog. */
const waiting = (kind: ExecutionKind, dispatched: 'IS NULL' | 'IS NOT NULL', limit: number) => sql`(
  SELECT kind, created_at, run_at, dispatched_at IS NOT NULL AS sent FROM task_executions
  WHERE status = 'PENDING' AND kind = ${sql.lit(kind)} AND dispatched_at ${sql.raw(dispatched)}
  ORDER BY dispatched_at NULLS FIRST, run_at LIMIT ${limit})`;

/**
 * How many are in each state, and what is stuck, in one statement that reads partial indexes from their start. What is IN_PROGRESS is
 * counted by its payload, which goes when the upload has settled: an index on pastes that knew the state would cost every upload its HOT
 * update. A job's age is that of the job. Only what is RUNNING has a lease.
 */
export async function readStateFigures(db: Database, mostCounted = MOST_COUNTED): Promise<StateFigures> {
  const { rows } = await sql<{
    figure: 'state' | 'zombies' | 'unsent' | 'sent';
    name: string;
    state: string;
    count: number;
    age: number | null;
  }>`
    WITH kinds (kind) AS (
      VALUES ('upload'), ('job')
    ), running AS MATERIALIZED (
      SELECT kind, started_at, lease_expires_at < now() AS zombie FROM task_executions
      WHERE lease_expires_at IS NOT NULL ORDER BY lease_expires_at LIMIT ${mostCounted}
    ), pending AS MATERIALIZED (
      ${sql.join(
        kinds.flatMap((kind) => [
          waiting(kind, 'IS NULL', mostCounted),
          waiting(kind, 'IS NOT NULL', mostCounted),
        ]),
        sql` UNION ALL `,
      )}
    ), figures (figure, name, state, count, since) AS (
      SELECT 'state', 'paste_upload', 'IN_PROGRESS', count(*), (SELECT created_at FROM paste_payloads ORDER BY paste_id LIMIT 1)
        FROM (SELECT paste_id FROM paste_payloads ORDER BY paste_id LIMIT ${mostCounted}) AS payload
      UNION ALL
      SELECT 'state', 'paste_deletion', 'DELETION_IN_PROGRESS', count(*), min(since) FROM (
        SELECT deletion_initiated_at FROM pastes WHERE deletion_initiated_at IS NOT NULL AND deleted_at IS NULL
        ORDER BY deletion_initiated_at LIMIT ${mostCounted}) AS claimed (since)
      UNION ALL
      SELECT 'state', 'job', 'queued', count(*), min(created_at) FROM (
        SELECT created_at FROM jobs WHERE status = 'queued' AND completed_at IS NULL ORDER BY created_at LIMIT ${mostCounted}) AS queued
      UNION ALL
      SELECT 'state', 'job', 'processing', count(*), min(created_at) FROM (
        SELECT created_at FROM jobs WHERE status = 'processing' AND completed_at IS NULL ORDER BY created_at LIMIT ${mostCounted}) AS processing
      UNION ALL
      SELECT 'state', 'task_execution', 'PENDING', count(*), min(created_at) FROM pending
      UNION ALL
      SELECT 'state', 'task_execution', 'RUNNING', count(*), min(started_at) FROM running
      UNION ALL
      SELECT 'zombies', kinds.kind, '', count(*) FILTER (WHERE zombie), NULL FROM kinds LEFT JOIN running USING (kind) GROUP BY kinds.kind
      UNION ALL
      SELECT 'unsent', kinds.kind, '', count(*) FILTER (WHERE NOT sent AND run_at < now() - make_interval(secs => ${UNSENT_AFTER_SECONDS})), NULL
        FROM kinds LEFT JOIN pending USING (kind) GROUP BY kinds.kind
      UNION ALL
      SELECT 'sent', kinds.kind, '', 0, min(run_at) FILTER (WHERE sent AND run_at <= now())
        FROM kinds LEFT JOIN pending USING (kind) GROUP BY kinds.kind
    )
    SELECT figure, name, state, least(count, ${mostCounted})::integer AS count,
      CASE WHEN since IS NOT NULL THEN greatest(0, extract(epoch FROM now() - since))::float8 END AS age FROM figures`.execute(
    db,
  );
  const ofKind = (figure: string, kind: string) =>
    rows.find((row) => row.figure === figure && row.name === kind);
  return {
    states: countedStates.map(({ machine, state }): StateFigure => {
      const row = rows.find((each) => each.name === machine && each.state === state);
      return { machine, state, count: row?.count ?? 0, oldestSeconds: row?.age ?? null };
    }),
    kinds: kinds.map((kind): KindFigures => ({
      kind,
      zombies: ofKind('zombies', kind)?.count ?? 0,
      unsent: ofKind('unsent', kind)?.count ?? 0,
      oldestSentSeconds: ofKind('sent', kind)?.age ?? null,
    })),
  };
}

const countedStates = machines.flatMap((machine: Machine) =>
  statesOf(machine)
    .filter((state) => !isTerminal(machine, state) && state !== 'NOT_EXPIRED')
    .map((state) => ({ machine: machine.name as MachineName, state })),
);

/** About how many pastes are NOT_EXPIRED, as the planner estimates it: they are nearly the whole table, which nobody counts in constant time. */
export async function estimateLivePastes(db: Database): Promise<number> {
  const { rows } = await sql<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>`
    EXPLAIN (FORMAT JSON) SELECT FROM pastes WHERE deletion_status = 'NOT_EXPIRED'`.execute(db);
  return rows[0]?.['QUERY PLAN'][0].Plan['Plan Rows'] ?? 0;
}
