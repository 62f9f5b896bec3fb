import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import { ALL_PASTES } from '../pastes/quotas.ts';
import { retryable } from '../pastes/retry-failed.ts';
import { isThere } from '../schema/pastes.ts';
import { estimateLivePastes } from './state-figures.ts';

/** A count; `approximate`: an estimate, or a count that stopped at its limit. */
export interface Counted {
  readonly count: number;
  readonly approximate: boolean;
}

/** What there is, and what has failed. */
export interface Inventory {
  /** Pastes that are not deleted, and the bytes of their content. */
  readonly pastes: Counted;
  readonly bytes: Counted;
  /** Pastes in the state NOT_EXPIRED. */
  readonly notExpired: Counted;
  /** Pastes created a minute, in the last ten minutes, or as long as the newest `MAX_LOOKED_AT` took. */
  readonly createdPerMinute: number;
  readonly users: Counted;
  readonly jobs: Counted;
  /** Processes that hold leases. */
  readonly workers: Counted;
  /** Those that are not done. */
  readonly erasures: Counted;
  /** Pastes with open reports. */
  readonly reported: Counted;
  /** FAILED pastes that can be retried. */
  readonly retryable: Counted;
  /** What failed in the last day. */
  readonly failed: { readonly uploads: Counted; readonly jobs: Counted; readonly deliveries: Counted };
}

/** Rows that a count looks at. A table that has no more is counted exactly; a larger one is estimated. */
const MAX_LOOKED_AT = 10_000;

type Row = Record<
  'users' | 'jobs' | 'workers' | 'erasures' | 'reported' | 'retryable' | 'uploads' | 'ended' | 'deliveries',
  number
> & {
  /** Of the newest pastes. */
  readonly looked: number;
  readonly there: number;
  readonly bytes: number;
  readonly recent: number;
  readonly minutes: number;
  readonly quotaPastes: number;
  readonly quotaBytes: number;
  readonly usersEstimate: number;
  readonly jobsEstimate: number;
};

/**
 * Reads at most `limit` rows of each table, from the ends of indexes. Of a larger table of pastes, quotas count all of
 * them; without quotas the planner estimates how many there are, and the newest tell how long they are.
 * @param hasQuotas `stored_usage` counts each paste
 */
export async function readInventory(
  db: Database,
  { hasQuotas, limit = MAX_LOOKED_AT }: { readonly hasQuotas: boolean; readonly limit?: number },
): Promise<Inventory> {
  const upTo = (from: unknown) => sql`(SELECT count(*)::integer FROM (${from} LIMIT ${limit}) AS counted)`;
  const lastDay = (table: string, time: string, state: string) => sql`(
    SELECT count(*) FILTER (WHERE status = ${sql.lit(state)})::integer FROM (
      SELECT status FROM ${sql.table(table)} WHERE ${sql.ref(time)} > now() - interval '1 day'
      ORDER BY ${sql.ref(time)} DESC LIMIT ${limit}) AS ended)`;
  const estimate = (table: string) =>
    sql`(SELECT reltuples::float8 FROM pg_class WHERE oid = ${sql.lit(table)}::regclass)`;
  const usage = (column: 'pastes' | 'bytes') =>
    sql`(SELECT coalesce(sum(${sql.ref(column)}), 0)::float8 FROM stored_usage WHERE owner = ${sql.lit(ALL_PASTES)})`;
  const { rows } = await sql<Row>`
    WITH newest AS MATERIALIZED (
      SELECT created_at, size_bytes, deletion_status = 'NOT_EXPIRED' AS there FROM pastes ORDER BY id DESC LIMIT ${limit}
    ), looked AS (
      SELECT count(*)::integer AS looked, count(*) FILTER (WHERE there)::integer AS there,
        coalesce(sum(size_bytes) FILTER (WHERE there), 0)::float8 AS bytes,
        count(*) FILTER (WHERE created_at > now() - interval '10 minutes')::integer AS recent,
        CASE WHEN count(*) < ${limit} THEN 10
          ELSE greatest(0.01, least(10, extract(epoch FROM now() - min(created_at)) / 60)) END::float8 AS minutes
      FROM newest
    )
    SELECT looked.*, ${usage('pastes')} AS "quotaPastes", ${usage('bytes')} AS "quotaBytes",
      ${upTo(sql`SELECT FROM users WHERE erased_at IS NULL`)} AS users, ${estimate('users')} AS "usersEstimate",
      ${upTo(sql`SELECT FROM jobs`)} AS jobs, ${estimate('jobs')} AS "jobsEstimate",
      (SELECT count(DISTINCT worker_id)::integer FROM (
        SELECT worker_id FROM task_executions WHERE lease_expires_at IS NOT NULL ORDER BY lease_expires_at DESC LIMIT ${limit}) AS leased) AS workers,
      ${upTo(sql`SELECT FROM erasures WHERE done_at IS NULL`)} AS erasures,
      (SELECT count(DISTINCT paste_id)::integer FROM (
        SELECT paste_id FROM paste_reports WHERE judged_at IS NULL ORDER BY created_at LIMIT ${limit}) AS open) AS reported,
      ${upTo(sql`SELECT FROM ${retryable({})}`)} AS retryable,
      ${upTo(sql`SELECT FROM pastes p WHERE failed_at > now() - interval '1 day' AND ${isThere('p')}`)} AS uploads,
      ${lastDay('jobs', 'completed_at', 'failed')} AS ended,
      ${lastDay('webhook_deliveries', 'ended_at', 'FAILED')} AS deliveries
    FROM looked`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('no row of counts');
  const counted = (count: number, estimated = count): Counted =>
    count < limit
      ? { count, approximate: false }
      : { count: Math.max(count, Math.round(estimated)), approximate: true };
  return {
    ...(await storedPastes(db, row, { hasQuotas, limit })),
    createdPerMinute: row.recent / row.minutes,
    users: counted(row.users, row.usersEstimate),
    jobs: counted(row.jobs, row.jobsEstimate),
    workers: counted(row.workers),
    erasures: counted(row.erasures),
    reported: counted(row.reported),
    retryable: counted(row.retryable),
    failed: {
      uploads: counted(row.uploads),
      jobs: counted(row.ended),
      deliveries: counted(row.deliveries),
    },
  };
}

async function storedPastes(
  db: Database,
  { looked, there, bytes, quotaPastes, quotaBytes }: Row,
  { hasQuotas, limit }: { readonly hasQuotas: boolean; readonly limit: number },
): Promise<Pick<Inventory, 'pastes' | 'bytes' | 'notExpired'>> {
  const exactly = (count: number): Counted => ({ count, approximate: false });
  if (looked < limit) return { pastes: exactly(there), bytes: exactly(bytes), notExpired: exactly(there) };
  const about = (count: number): Counted => ({ count: Math.round(count), approximate: true });
  const live = Math.max(there, await estimateLivePastes(db));
  const notExpired = about(live);
  return hasQuotas
    ? { pastes: exactly(quotaPastes), bytes: exactly(quotaBytes), notExpired }
    : { pastes: about(live), bytes: about(there === 0 ? 0 : (bytes / there) * live), notExpired };
}
