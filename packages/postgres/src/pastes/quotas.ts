import type { UsedUpQuota } from '@pasteflow/domain';
import { sql, type RawBuilder } from 'kysely';
import { affectedRows, type Database } from '../database/database.ts';
import type { EnforcedTrigger, OwnerFunction } from '../database/objects.ts';

/** How much may be stored; null: any number. A paste counts until its object is deleted. */
export interface Quotas {
  /** Of each user. */
  readonly maxPastes: number | null;
  /** Of each user. */
  readonly maxBytes: number | null;
  /** Of all users and anonymous creators together, as `maxStoredBytes`. Creations at the same moment may exceed both. */
  readonly maxStoredPastes: number | null;
  readonly maxStoredBytes: number | null;
}

export interface StoredUsage {
  readonly pastes: number;
  readonly bytes: number;
}

/**
 * The CTE `affordable` (short_code): those entries that the quotas allow. Takes the locks of `locked_usage`
 * in the order of the users.
 * @param after a CTE that is executed before, so that its locks come first; null: none
 */
export function affordableEntries(
  { maxPastes, maxBytes, maxStoredPastes, maxStoredBytes }: Quotas,
  after: string | null,
): RawBuilder<unknown> {
  return sql`used AS MATERIALIZED (
      SELECT user_id, locked_usage(user_id) AS used FROM ${after === null ? sql`` : sql`(SELECT count(*) FROM ${sql.table(after)}) AS earlier,`} (
        SELECT DISTINCT user_id FROM entry
        WHERE user_id IS NOT NULL AND num_nonnulls(${maxPastes}::bigint, ${maxBytes}::bigint) > 0 ORDER BY user_id) AS owners
    ), affordable AS MATERIALIZED (
      SELECT short_code FROM (
        SELECT short_code, used[1] + row_number() OVER own AS pastes, used[2] + sum(size_bytes) OVER own AS bytes,
          row_number() OVER (ORDER BY n) AS new_pastes, sum(size_bytes) OVER (ORDER BY n) AS new_bytes
        FROM entry LEFT JOIN used USING (user_id) WINDOW own AS (PARTITION BY user_id ORDER BY n)) AS summed
      WHERE coalesce(pastes <= ${maxPastes}::bigint, true) AND coalesce(bytes <= ${maxBytes}::bigint, true)
        AND ${fits('pastes', maxStoredPastes)} AND ${fits('bytes', maxStoredBytes)}
    )`;
}

/** A condition: what all pastes have, and the entries up to this one, is within the quota. Nothing may be stored yet. */
function fits(of: 'pastes' | 'bytes', most: number | null): RawBuilder<unknown> {
  if (most === null) return sql`true`;
  return sql`${sql.ref(`new_${of}`)} + coalesce((SELECT sum(${sql.ref(of)}) FROM stored_usage WHERE owner = ${sql.lit(ALL_PASTES)}), 0) <= ${most}::bigint`;
}

/** A condition that goes with `affordableEntries`. */
export function ifAffordable(quotas: Quotas | null): RawBuilder<unknown> {
  return quotas === null ? sql`` : sql` AND short_code IN (SELECT short_code FROM affordable)`;
}

/** What a user has stored; null: all pastes. 0 for what was created without quotas and is not counted yet. */
export async function readStoredUsage(db: Database, userId: string | null): Promise<StoredUsage> {
  const { rows } = await sql<{ pastes: string; bytes: string }>`
    SELECT coalesce(sum(pastes), 0) AS pastes, coalesce(sum(bytes), 0) AS bytes FROM stored_usage
    WHERE owner = ${userId ?? ALL_PASTES}`.execute(db);
  return { pastes: Number(rows[0]?.pastes), bytes: Number(rows[0]?.bytes) };
}

/** The quota that a paste of this size would exceed; null: none, at this moment. */
export async function findQuotaRefusal(
  db: Database,
  { userId, sizeBytes }: { readonly userId: string | null; readonly sizeBytes: number },
  { maxPastes, maxBytes, maxStoredPastes, maxStoredBytes }: Quotas,
): Promise<UsedUpQuota | null> {
  const all = await readStoredUsage(db, null);
  if (maxStoredPastes !== null && all.pastes + 1 > maxStoredPastes)
    return { quota: 'stored_pastes', used: all.pastes, allowed: maxStoredPastes };
  if (maxStoredBytes !== null && all.bytes + sizeBytes > maxStoredBytes)
    return { quota: 'stored_bytes', used: all.bytes, allowed: maxStoredBytes };
  if (userId === null) return null;
  const { pastes, bytes } = await readStoredUsage(db, userId);
  if (maxPastes !== null && pastes + 1 > maxPastes)
    return { quota: 'pastes', used: pastes, allowed: maxPastes };
  if (maxBytes !== null && bytes + sizeBytes > maxBytes)
    return { quota: 'bytes', used: bytes, allowed: maxBytes };
  return null;
}

/**
 * Counts pastes that were created without quotas. Rows that another session has locked are left to the next
 * walk.
 * @returns how many it counted
 */
export async function countOlderPastes(db: Database, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0;
  const result = await sql`
    WITH older AS MATERIALIZED (
      SELECT id FROM pastes WHERE id = ANY (${ids}::uuid[]) AND NOT counted AND deletion_status <> 'DELETED'
      ORDER BY id FOR UPDATE SKIP LOCKED
    )
    UPDATE pastes p SET counted = true FROM older WHERE p.id = older.id`.execute(db);
  return affectedRows(result);
}

/** The owner of the parts that count all pastes. */
export const ALL_PASTES = '00000000-0000-0000-0000-000000000000';

/** Of all pastes. Few creations commit at the same time. */
const PARTS = 16;

const ADDED = `SELECT 1 AS sign, user_id, size_bytes, counted, deletion_status FROM new_rows`;
const REMOVED = `SELECT -1, user_id, size_bytes, counted, deletion_status FROM old_rows`;

const creationPart = `CASE WHEN owner = '${ALL_PASTES}' THEN pg_backend_pid() % ${PARTS} ELSE 0 END`;

/**
 * Counts what each statement changes, from any client: counters and pastes are committed together. The rows
 * of the counters are locked in one order, those of all pastes last.
 */
export const storedUsageTriggers: readonly EnforcedTrigger[] = [
  countTrigger('insert', 'NEW TABLE AS new_rows', ADDED, creationPart),
  countTrigger(
    'update',
    'OLD TABLE AS old_rows NEW TABLE AS new_rows',
    `${ADDED} UNION ALL ${REMOVED}`,
    '-1',
  ),
  countTrigger('delete', 'OLD TABLE AS old_rows', `${REMOVED.replace('-1', '-1 AS sign')}`, '-1'),
];

function countTrigger(event: string, tables: string, changes: string, part: string): EnforcedTrigger {
  const name = `count_pastes_${event}`;
  return {
    table: 'pastes',
    name,
    function: name,
    runsAsOwner: true,
    settings: '',
    body: `
    BEGIN
      IF NOT EXISTS (SELECT FROM (${changes}) AS change WHERE counted) THEN RETURN NULL; END IF;
      INSERT INTO stored_usage AS u (owner, part, pastes, bytes)
        SELECT owner, ${part}, pastes, bytes FROM (
          SELECT CASE WHEN grouping(user_id) = 1 THEN '${ALL_PASTES}' ELSE user_id END AS owner, sum(sign) AS pastes,
            sum(sign * size_bytes::bigint) AS bytes
          FROM (${changes}) AS change WHERE counted AND deletion_status <> 'DELETED'
          GROUP BY GROUPING SETS ((user_id), ()) HAVING grouping(user_id) = 1 OR user_id IS NOT NULL
        ) AS changed WHERE pastes <> 0 OR bytes <> 0 ORDER BY owner = '${ALL_PASTES}', owner
      ON CONFLICT (owner, part) DO UPDATE SET pastes = u.pastes + excluded.pastes, bytes = u.bytes + excluded.bytes;
      RETURN NULL;
    END`,
    definition: `AFTER ${event.toUpperCase()} ON pastes REFERENCING ${tables} FOR EACH STATEMENT`,
  };
}

/**
 * The pastes and the bytes of a user. Creations of one user wait here for each other's commits, so that a
 * quota is exact: each query of a VOLATILE function sees what was committed before it began.
 */
export const lockedUsageFunction: OwnerFunction = {
  name: 'locked_usage',
  parameters: 'of_user uuid',
  returns: 'bigint[]',
  body: `
    BEGIN
      INSERT INTO stored_usage (owner, part) VALUES (of_user, 0) ON CONFLICT DO NOTHING;
      PERFORM FROM stored_usage WHERE owner = of_user AND part = 0 FOR UPDATE;
      RETURN (SELECT ARRAY[sum(pastes), sum(bytes)] FROM stored_usage WHERE owner = of_user);
    END`,
};
