import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import {
  ago,
  endedExecution,
  insertExecutions,
  openExecution,
  type ExecutionShape,
} from './made-executions.ts';
import { importRows } from './rows.ts';

/** What a test may choose for a delivery of a webhook of each status. */
export type DeliveryShape = { readonly createdSecondsAgo?: number } & (
  | { readonly status: 'WAITING'; readonly execution?: ExecutionShape }
  | { readonly status: 'DELIVERED' | 'FAILED'; readonly endedSecondsAgo?: number }
);

export interface MadeDelivery {
  readonly id: string;
  /** The open execution, or the one that ended last. */
  readonly executionId: string;
}

/** Creates `count` deliveries of one shape to an endpoint, each of an event of its own. */
export async function makeDeliveries(
  db: Database,
  endpointId: string,
  count: number,
  shape: DeliveryShape,
): Promise<readonly MadeDelivery[]> {
  const { createdSecondsAgo: age = 60, status } = shape;
  const endedSecondsAgo = status === 'WAITING' ? null : (shape.endedSecondsAgo ?? age);
  const error = status === 'FAILED' ? 'endpoint failed: answered 500' : null;
  const execution =
    endedSecondsAgo === null
      ? openExecution((status === 'WAITING' && shape.execution) || { status: 'PENDING' }, age)
      : endedExecution(
          { attempt: error === null ? 1 : 8, error },
          { age, finishedSecondsAgo: endedSecondsAgo },
        );
  const { rows } = await importRows(db, (importing) =>
    sql<MadeDelivery>`
    WITH delivery AS (
      INSERT INTO webhook_deliveries (endpoint_id, user_id, event_id, type, about, occurrence, happened_at, status, created_at, ended_at, failure_reason)
      SELECT id, user_id, uuid_v7(), 'paste.stored', 'made-' || n, gen_random_uuid()::text, ${ago(age)}, ${status}, ${ago(age)},
        ${ago(endedSecondsAgo)}, ${error}
      FROM webhook_endpoints, generate_series(1, ${count}::integer) AS n WHERE id = ${endpointId}::uuid
      RETURNING id, user_id, endpoint_id
    ), ${insertExecutions('webhook', 'delivery', execution, age, ['user_id', 'endpoint_id'])}
    SELECT delivery.id, execution.id AS "executionId" FROM delivery JOIN execution ON execution.subject_id = delivery.id
    ORDER BY delivery.id`.execute(importing),
  );
  return rows;
}
