import { sql } from 'kysely';
import type { Database, Place } from '../../src/index.ts';

/** The place behind so many rows of a list in the order given, straight from the table; null for none. */
export async function placeAt(
  db: Database,
  { table, where, order, skipped }: { table: string; where: string; order: 'ASC' | 'DESC'; skipped: number },
): Promise<Place | null> {
  if (skipped === 0) return null;
  const { rows } = await sql<Place>`
    SELECT created_at::text AS "createdAt", id FROM ${sql.id(table)} WHERE ${sql.raw(where)}
    ORDER BY created_at ${sql.raw(order)}, id ${sql.raw(order)} OFFSET ${skipped - 1} LIMIT 1`.execute(db);
  const [place] = rows;
  if (place === undefined) throw new Error(`${table} has no ${skipped} rows where ${where}`);
  return place;
}
