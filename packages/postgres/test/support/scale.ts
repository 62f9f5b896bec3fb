import type { TestPostgres } from '@pasteflow/dev-stack/testing';
import { sql } from 'kysely';
import { openToFill } from './database.ts';

/**
 * The rows of the small and of the large tables. `npm run proof -- scale` takes 10,000 and 1,000,000 rows,
 * and each run of the tests by volume a smaller pair. Ten million rows need up to 25 GB on the disk for each
 * file, and take half an hour.
 */
export const [small = 1000, large = 100_000] = (process.env.SCALE_ROWS ?? '1000,50000')
  .split(',')
  .map(Number);

/**
 * A hundred times the rows make each B-tree one level higher: one page more for each descent of two or three
 * pages. So each factor of 100 may cost a half more. A cost that grows with the table would be a hundred
 * times as high.
 */
export const MAX_GROWTH = Math.max(1.5, 1 + Math.log10(large / small) / 4);

/**
 * The most pages that a statement may read of the large tables, which reads `few` of the small ones. The rows of a list that share a page
 * of a small table can lie on a page each of a large one: the longest list has 21 rows.
 */
export function mostPages(few: number): number {
  return Math.ceil(few * MAX_GROWTH) + 25;
}

/** The time limit for filling the tables: 15 minutes for each million rows. */
export const FILL_LIMIT_MS = 900_000 * Math.max(1, large / 1_000_000);

/**
 * Gives the server memory for the indexes that grow, and few checkpoints. With the default of 128 MB, ten
 * million rows take much longer, because each row changes pages of indexes that the server must then read
 * again. The plans stay as they are, because the planner reads only `effective_cache_size`.
 */
export async function prepareToFill(stack: TestPostgres): Promise<void> {
  if (large <= 1_000_000) return;
  const db = openToFill(stack.postgres.url);
  await sql`ALTER SYSTEM SET shared_buffers = '6GB'`.execute(db);
  await sql`ALTER SYSTEM SET max_wal_size = '16GB'`.execute(db);
  await db.destroy();
  await stack.restartPostgres();
}
