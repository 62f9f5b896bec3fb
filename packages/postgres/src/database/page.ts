/** A place in a list that is ordered by (created_at, id), newest first. A page goes on behind the last row of the one before. */
export interface Place {
  /** As text, to the microsecond: a Date would lose three digits, and with them rows. */
  readonly createdAt: string;
  readonly id: string;
}

/** What a page is asked for with. `after` null: from the newest on. */
export interface PageRequest {
  readonly limit: number;
  readonly after: Place | null;
}

/** Rows newest first, and where the next page starts; null: there is none. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly next: Place | null;
}

/** @param rows one more than `limit`, where there are so many: the one more tells that there is a next page */
export function toPage<Row extends { readonly place: Place }>(
  rows: readonly Row[],
  limit: number,
): Page<Row> {
  const page = rows.slice(0, limit);
  return { rows: page, next: rows.length > limit ? (page.at(-1)?.place ?? null) : null };
}
