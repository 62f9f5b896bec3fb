import { sql } from 'kysely';

/**
 * A place in a list that is ordered by (created_at, id), newest first. A page starts after the last row of
 * the page before.
 */
export interface Place {
  /** As text, in microseconds: a Date has milliseconds, and rows in between would be skipped. */
  readonly createdAt: string;
  readonly id: string;
}

/** The request for one page. `after` null: the page starts with the newest row. */
export interface PageRequest {
  readonly limit: number;
  readonly after: Place | null;
}

/** Rows, newest first. `next` is the place where the next page starts; null: this is the last page. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly next: Place | null;
}

/** @param rows up to `limit` + 1 rows: the additional row shows that there is a next page */
export function toPage<Row extends { readonly place: Place }>(
  rows: readonly Row[],
  limit: number,
): Page<Row> {
  const page = rows.slice(0, limit);
  return { rows: page, next: rows.length > limit ? (page.at(-1)?.place ?? null) : null };
}

/** The place of a row with the columns created_at and id. */
export const placeOfRow = sql<Place>`json_build_object('createdAt', created_at::text, 'id', id)`;

/**
 * The rows after a place, newest first. One comparison of rows, which an index on both columns can start at.
 */
export function isOlderThan({ createdAt, id }: Place) {
  return sql<boolean>`(created_at, id) < (${createdAt}::timestamptz, ${id}::uuid)`;
}
