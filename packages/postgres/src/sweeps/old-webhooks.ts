import { sql, type RawBuilder } from 'kysely';
import { affectedRows, type Database } from '../database/database.ts';
import { removed, within, type Aged, type Portion } from '../database/one-row.ts';
import { opaqueState } from '../database/planner.ts';

export function searchOldDeliveries({ retentionSeconds, ...portion }: Aged): RawBuilder<unknown> {
  return sql`
      SELECT id, id::text AS name FROM webhook_deliveries
      WHERE ended_at < now() - make_interval(secs => ${retentionSeconds}) AND ended_at IS NOT NULL AND ${within(sql`id::text`, portion)}
      ORDER BY ended_at LIMIT ${portion.limit}`;
}

/** Removes up to `limit` deliveries of webhooks that ended more than `retentionSeconds` ago. @returns how many */
export const removeOldDeliveries = (db: Database, old: Aged): Promise<number> =>
  removed(db, 'webhook_deliveries', searchOldDeliveries(old));

export function searchDeliveriesOfRemoved(portion: Portion): RawBuilder<unknown> {
  return sql`
      SELECT d.id, d.id::text AS name FROM webhook_endpoints e
        CROSS JOIN LATERAL (
          SELECT id FROM webhook_deliveries WHERE endpoint_id = e.id AND ${within(sql`id::text`, portion)}
          ORDER BY created_at, id LIMIT ${portion.limit}
        ) AS d
      WHERE e.removed_at IS NOT NULL LIMIT ${portion.limit}`;
}

/**
 * Removes up to `limit` deliveries of endpoints that were removed, also those that wait. As a settlement does, it locks
 * the open execution before the delivery: otherwise each could wait for the other. @returns how many it removed
 */
export async function removeDeliveriesOfRemoved(db: Database, portion: Portion): Promise<number> {
  const result = await sql`
    WITH removed AS MATERIALIZED (
      ${searchDeliveriesOfRemoved(portion)}
    ), open AS MATERIALIZED (
      SELECT e.subject_id FROM task_executions e
      WHERE e.subject_id = ANY (ARRAY(SELECT id FROM removed)) AND e.kind = 'webhook' AND ${opaqueState('e')} IN ('PENDING', 'RUNNING')
      FOR UPDATE SKIP LOCKED
    ), old AS MATERIALIZED (
      SELECT d.id FROM webhook_deliveries d
      WHERE d.id = ANY (ARRAY(SELECT id FROM removed)) AND (d.ended_at IS NOT NULL OR d.id = ANY (ARRAY(SELECT subject_id FROM open)))
      FOR UPDATE SKIP LOCKED
    )
    DELETE FROM webhook_deliveries d USING old WHERE d.id = old.id`.execute(db);
  return affectedRows(result);
}

/** Longer than a statement runs that saw the endpoint before its removal, and tells it something. */
const REMOVED_FOR_MINUTES = 15;

export function searchRemovedWebhooks(portion: Portion): RawBuilder<unknown> {
  return sql`
      SELECT id, id::text AS name FROM webhook_endpoints e
      WHERE removed_at < now() - make_interval(mins => ${sql.lit(REMOVED_FOR_MINUTES)}) AND removed_at IS NOT NULL
        AND ${within(sql`id::text`, portion)} AND NOT EXISTS (SELECT FROM webhook_deliveries d WHERE d.endpoint_id = e.id)
      ORDER BY removed_at LIMIT ${portion.limit}`;
}

/** Removes up to `limit` endpoints that were removed and have no deliveries left. @returns how many */
export const removeRemovedWebhooks = (db: Database, portion: Portion): Promise<number> =>
  removed(db, 'webhook_endpoints', searchRemovedWebhooks(portion));
