import { sql } from 'kysely';
import { operation } from '../harness/operation.ts';

/** Reads the state and changes it by two statements: what a claim without a compare-and-set would do. */
export const takeWithoutFence = operation('take without a fence', { touches: ['execution'] }, () => null, [
  {
    read: async (db, { executionId }) => {
      const { rows } = await sql`
          SELECT FROM task_executions WHERE id = ${executionId} AND status = 'PENDING'`.execute(db);
      return rows.length > 0;
    },
  },
  {
    statement: async (db, { executionId }, actor) => {
      await sql`
          WITH actor AS MATERIALIZED (SELECT set_config('pasteflow.actor', ${actor}, true))
          UPDATE task_executions SET status = 'RUNNING', worker_id = ${actor}, started_at = now(), lease_expires_at = now()
          FROM actor WHERE id = ${executionId}`.execute(db);
      return { changed: true };
    },
  },
]);
