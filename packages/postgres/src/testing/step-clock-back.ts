import { sql } from 'kysely';
import type { Database } from '../database/database.ts';

/**
 * Makes the rows look as they do when the clock of Postgres has stepped back, as after a failover to a host
 * that is behind: every time in every table is that much later, compared with `now()`. Needs the owner of the
 * tables. The audit trail, which is never compared, stays.
 */
export async function stepClockBack(db: Database, seconds: number): Promise<void> {
  const { rows } = await sql<{ table: string; columns: string[] }>`
    SELECT relname AS "table", array_agg(attname::text) AS columns
    FROM pg_class c JOIN pg_attribute ON attrelid = c.oid
    WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND NOT relispartition
      AND attnum > 0 AND NOT attisdropped AND atttypid = 'timestamptz'::regtype
    GROUP BY 1`.execute(db);
  await db.transaction().execute(async (tx) => {
    for (const { table, columns } of rows) {
      const later = columns.map(
        (column) => sql`${sql.id(column)} = ${sql.id(column)} + make_interval(secs => ${seconds})`,
      );
      await sql`UPDATE ${sql.table(table)} SET ${sql.join(later)}`.execute(tx);
    }
  });
}
