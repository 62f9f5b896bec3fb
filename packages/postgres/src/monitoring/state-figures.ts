import { sql, type RawBuilder } from 'kysely';
import {
  type erasure,
  job,
  machines,
  openStatesOf,
  type Machine,
  type MachineName,
  type OpenStateOf,
} from '@pasteflow/domain';
import type { Database } from '../database/database.ts';
import { defaultTimeBounds } from '../executions/times-ahead.ts';
import { executionKinds, type ExecutionKind } from '../schema/executions.ts';
import {
  workAhead,
  MAX_COUNTED,
  strandedWork,
  UNSENT_AFTER_SECONDS,
  waitingDeliveries,
  waitingExecutions,
} from './open-work.ts';

interface StateFigure {
  readonly machine: MachineName;
  readonly state: string;
  /** How many rows are in the state, at most `MAX_COUNTED`. */
  readonly count: number;
  /** How long the oldest of the counted rows has been in the state; null: there is none. */
  readonly oldestSeconds: number | null;
}

interface KindFigures {
  readonly kind: ExecutionKind;
  /** RUNNING past their lease. */
  readonly zombies: number;
  /** Due for `UNSENT_AFTER_SECONDS`, and no message was ever sent for them. */
  readonly unsent: number;
  /** Work without an open execution, among the oldest open work. */
  readonly stranded: number;
  /** Due, or leased, for longer than can be: the clock of Postgres was ahead. */
  readonly ahead: number;
  /**
   * How long the oldest execution that a worker should claim has been due: one for which a message was sent, or one of
   * `waitingDeliveries`; null: there is none.
   */
  readonly oldestDueSeconds: number | null;
  /** How long the oldest has been due, with a message or without one; null: there is none. */
  readonly oldestWaitingSeconds: number | null;
}

export interface StateFigures {
  /** One for each state that is not terminal, except NOT_EXPIRED: see estimateLivePastes. */
  readonly states: readonly StateFigure[];
  readonly kinds: readonly KindFigures[];
}

/**
 * A SELECT of one row: how many rows are in a state, counted up to `limit`, and since when the oldest of
 * them.
 */
type Gauge = (limit: number) => RawBuilder<unknown>;

/** NOT_EXPIRED is nearly the whole table, which nothing counts at a constant cost: see estimateLivePastes. */
const ESTIMATED = null;

type Gauges = {
  readonly [M in (typeof machines)[number] as M['name']]: Readonly<
    Record<OpenStateOf<M>, Gauge | typeof ESTIMATED>
  >;
};

/**
 * How each state is counted: from the start of a partial index. A state that is missing here does not
 * compile.
 *
 * IN_PROGRESS is counted by the payloads, which a settlement deletes: an index on pastes that contains the
 * state would cost each upload its HOT update. Only RUNNING executions have a lease.
 */
const gauges: Gauges = {
  paste_upload: {
    IN_PROGRESS: (limit) => sql`
      SELECT count(*), (SELECT created_at FROM paste_payloads ORDER BY paste_id LIMIT 1)
      FROM (SELECT paste_id FROM paste_payloads ORDER BY paste_id LIMIT ${limit}) AS payload`,
  },
  paste_deletion: {
    NOT_EXPIRED: ESTIMATED,
    DELETION_IN_PROGRESS: (limit) => sql`
      SELECT count(*), min(since) FROM (
        SELECT deletion_initiated_at FROM pastes WHERE deletion_initiated_at IS NOT NULL AND deleted_at IS NULL
        ORDER BY deletion_initiated_at LIMIT ${limit}) AS claimed (since)`,
  },
  job: Object.fromEntries(openStatesOf(job).map((state) => [state, jobsIn(state)])) as Gauges['job'],
  task_execution: {
    PENDING: () => sql`SELECT count(*), min(created_at) FROM pending`,
    RUNNING: () => sql`SELECT count(*), min(started_at) FROM running`,
  },
  paste_report: {
    open: (limit) => sql`
      SELECT count(*), min(created_at) FROM (
        SELECT created_at FROM paste_reports WHERE judged_at IS NULL ORDER BY created_at LIMIT ${limit}) AS waiting`,
  },
  // Those that take deposits: that one has expired is no transition.
  secret_request: {
    OPEN: (limit) => sql`
      SELECT count(*), min(created_at) FROM (
        SELECT created_at FROM secret_requests WHERE ended_at IS NULL AND expires_at > now() ORDER BY expires_at LIMIT ${limit}) AS open`,
  },
  webhook_delivery: {
    WAITING: (limit) => sql`
      SELECT count(*), min(created_at) FROM (
        SELECT created_at FROM webhook_deliveries WHERE ended_at IS NULL ORDER BY id LIMIT ${limit}) AS waiting`,
  },
  erasure: { requested: erasuresIn('requested'), at_work: erasuresIn('at_work') },
};

/** The age of an erasure is the time since it was requested. */
function erasuresIn(state: OpenStateOf<typeof erasure>): Gauge {
  return (limit) => sql`
    SELECT count(*), min(created_at) FROM (
      SELECT created_at FROM erasures WHERE done_at IS NULL AND status = ${sql.lit(state)}
      ORDER BY created_at LIMIT ${limit}) AS open`;
}

/** The age of a job in any open state is the time since it was created. */
function jobsIn(state: OpenStateOf<typeof job>): Gauge {
  return (limit) => sql`
    SELECT count(*), min(created_at) FROM (
      SELECT created_at FROM jobs WHERE status = ${sql.lit(state)} AND completed_at IS NULL
      ORDER BY created_at LIMIT ${limit}) AS open`;
}

const countedStates = machines.flatMap((machine: Machine) => {
  const name = machine.name as MachineName;
  const ofMachine: Readonly<Record<string, Gauge | typeof ESTIMATED>> = gauges[name];
  return openStatesOf(machine).flatMap((state) => {
    const gauge = ofMachine[state];
    return gauge ? [{ machine: name, state, gauge }] : [];
  });
});

/**
 * How many rows are in each state, and what is stuck, in one statement that reads partial indexes from their
 * start.
 */
export async function readStateFigures(
  db: Database,
  limit = MAX_COUNTED,
  bounds = defaultTimeBounds,
): Promise<StateFigures> {
  const states = countedStates.map(
    ({ machine, state, gauge }) =>
      sql`SELECT 'state', ${sql.lit(machine)}, ${sql.lit(state)}, state.* FROM (${gauge(limit)}) AS state`,
  );
  const { rows } = await sql<{
    figure: 'state' | 'zombies' | 'unsent' | 'stranded' | 'ahead' | 'oldest' | 'waiting';
    name: string;
    state: string;
    count: number;
    age: number | null;
  }>`
    WITH kinds (kind) AS (
      SELECT unnest(${sql.lit(`{${executionKinds.join(',')}}`)}::text[])
    ), running AS MATERIALIZED (
      SELECT kind, started_at, lease_expires_at < now() AS zombie FROM task_executions
      WHERE lease_expires_at IS NOT NULL ORDER BY lease_expires_at LIMIT ${limit}
    ), pending AS MATERIALIZED (
      ${waitingExecutions('unsent', limit)} UNION ALL ${waitingExecutions('sent', limit)} UNION ALL ${waitingExecutions('none', limit)}
    ), oldest AS MATERIALIZED (
      SELECT kind, min(run_at) AS since FROM pending WHERE message = 'sent' AND run_at <= now() GROUP BY kind
      UNION ALL SELECT kind, min(run_at) FROM (${waitingDeliveries()}) AS waiting GROUP BY kind
    ), stranded AS MATERIALIZED (
      ${strandedWork()}
    ), figures (figure, name, state, count, since) AS (
      ${sql.join(states, sql` UNION ALL `)}
      UNION ALL
      SELECT 'zombies', kinds.kind, '', count(*) FILTER (WHERE zombie), NULL FROM kinds LEFT JOIN running USING (kind) GROUP BY kinds.kind
      UNION ALL
      SELECT 'unsent', kinds.kind, '', count(*) FILTER (WHERE message = 'unsent' AND run_at < now() - make_interval(secs => ${UNSENT_AFTER_SECONDS})), NULL
        FROM kinds LEFT JOIN pending USING (kind) GROUP BY kinds.kind
      UNION ALL
      SELECT 'stranded', kinds.kind, '', count(subject_id), NULL FROM kinds LEFT JOIN stranded USING (kind) GROUP BY kinds.kind
      UNION ALL
      SELECT 'ahead', kinds.kind, '', count(subject_id), NULL FROM kinds LEFT JOIN (${workAhead(bounds, limit)}) AS too_late USING (kind) GROUP BY kinds.kind
      UNION ALL
      SELECT 'oldest', kinds.kind, '', 0, since FROM kinds LEFT JOIN oldest USING (kind)
      UNION ALL
      SELECT 'waiting', kind, '', 0, min(since) FROM (
        SELECT kind, since FROM oldest UNION ALL SELECT kind, run_at FROM pending WHERE message = 'unsent' AND run_at <= now()) AS due
      GROUP BY kind
    )
    SELECT figure, name, state, least(count, ${limit})::integer AS count,
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
    kinds: executionKinds.map((kind): KindFigures => ({
      kind,
      zombies: ofKind('zombies', kind)?.count ?? 0,
      unsent: ofKind('unsent', kind)?.count ?? 0,
      stranded: ofKind('stranded', kind)?.count ?? 0,
      ahead: ofKind('ahead', kind)?.count ?? 0,
      oldestDueSeconds: ofKind('oldest', kind)?.age ?? null,
      oldestWaitingSeconds: ofKind('waiting', kind)?.age ?? null,
    })),
  };
}

/** About how many pastes are NOT_EXPIRED, as the planner estimates. */
export async function estimateLivePastes(db: Database): Promise<number> {
  const { rows } = await sql<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>`
    EXPLAIN (FORMAT JSON) SELECT FROM pastes WHERE deletion_status = 'NOT_EXPIRED'`.execute(db);
  return rows[0]?.['QUERY PLAN'][0].Plan['Plan Rows'] ?? 0;
}
