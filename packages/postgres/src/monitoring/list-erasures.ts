import type { ErasureState } from '@pasteflow/domain';
import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import { placeOfRow, toPage, type Page, type PageRequest, type Place } from '../database/page.ts';
import type { Counted } from './inventory.ts';

/** An erasure that is not done. */
export interface OpenErasure {
  readonly userId: string;
  readonly status: ErasureState;
  readonly requestedAt: Date;
  /** What the user had at the request. */
  readonly pastes: number;
  readonly jobs: number;
  /** What is left. */
  readonly pastesLeft: Counted;
  readonly jobsLeft: Counted;
}

/** Rows of each user that are counted. */
const MAX_LEFT = 1000;

/** A page of the erasures that are not done, oldest first. */
export async function listOpenErasures(
  db: Database,
  { limit, after }: PageRequest,
): Promise<Page<OpenErasure & { readonly place: Place }>> {
  type Row = Omit<OpenErasure, 'pastesLeft' | 'jobsLeft'> & {
    readonly place: Place;
    readonly pastesLeft: number;
    readonly jobsLeft: number;
  };
  const further =
    after === null ? sql`` : sql`AND (created_at, id) > (${after.createdAt}::timestamptz, ${after.id}::uuid)`;
  const { rows } = await sql<Row>`
    SELECT user_id AS "userId", status, created_at AS "requestedAt", pastes, jobs, ${placeOfRow} AS place,
      (SELECT count(*)::integer FROM (SELECT FROM pastes p WHERE p.user_id = open.user_id AND p.deletion_initiated_at IS NULL ORDER BY created_at, id LIMIT ${MAX_LEFT}) AS left_pastes) AS "pastesLeft",
      (SELECT count(*)::integer FROM (SELECT FROM jobs j WHERE j.user_id = open.user_id ORDER BY created_at, id LIMIT ${MAX_LEFT}) AS left_jobs) AS "jobsLeft"
    FROM (SELECT * FROM erasures WHERE done_at IS NULL ${further} ORDER BY created_at, id LIMIT ${limit + 1}) AS open
    ORDER BY created_at, id`.execute(db);
  const left = (count: number): Counted => ({ count, approximate: count >= MAX_LEFT });
  return toPage(
    rows.map((row) => ({ ...row, pastesLeft: left(row.pastesLeft), jobsLeft: left(row.jobsLeft) })),
    limit,
  );
}
