import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../database/database.ts';
import { toPage, type Page, type PageRequest, type Place } from '../database/page.ts';

/**
 * A page of a list of operators reads at most so many rows, however few of them match, so that it takes some 50 ms for
 * any table: an index for each filter would be written by each creation, to speed up lists that few look at. A page
 * that has read them all ends where it stopped, possibly without a match.
 */
export const MAX_SCANNED = 5000;

/** Where the rows come from: an index that has them in the order of the list. */
export interface Source {
  /** What stands between FROM and the conditions of the place, as `r`, with a WHERE. */
  readonly from: RawBuilder<unknown>;
  /** The ids are of the time of the creation. `creation`: by `created_at` and then by id, as the indexes of owners are. */
  readonly order: 'id' | 'creation';
  /** The columns that the filter and the list read, with `id` and `created_at`. */
  readonly read: RawBuilder<unknown>;
}

/** A page of the rows of the source that match, newest first. @param maxScanned for tests */
export async function findNewest<Row>(
  db: Database,
  {
    source: { from, order, read },
    columns,
    matches,
  }: {
    readonly source: Source;
    readonly columns: RawBuilder<unknown>;
    readonly matches: RawBuilder<boolean>;
  },
  { limit, after }: PageRequest,
  maxScanned = MAX_SCANNED,
): Promise<Page<Row & { readonly place: Place }>> {
  const [further, sorted] =
    order === 'id'
      ? [after && sql`AND r.id < ${after.id}::uuid`, sql`r.id DESC`]
      : [
          after && sql`AND (r.created_at, r.id) < (${after.createdAt}::timestamptz, ${after.id}::uuid)`,
          sql`r.created_at DESC, r.id DESC`,
        ];
  const place = sql`json_build_object('createdAt', r.created_at::text, 'id', r.id) AS place`;
  const scanned = sql`SELECT ${read} FROM ${from} ${further ?? sql``} ORDER BY ${sorted} LIMIT ${maxScanned}`;
  const { rows } = await sql<Row & { readonly place: Place }>`
    SELECT ${columns}, ${place} FROM (${scanned}) AS r WHERE ${matches} ORDER BY ${sorted} LIMIT ${limit + 1}`.execute(
    db,
  );
  if (rows.length > limit) return toPage(rows, limit);
  const { rows: last } = await sql<{ place: Place }>`
    SELECT ${place} FROM (${scanned}) AS r ORDER BY ${sorted} OFFSET ${maxScanned - 1} LIMIT 1`.execute(db);
  return { rows, next: last[0]?.place ?? null };
}
