import { OBJECT_KEY_PREFIX, shortCodeOfKey } from '@pasteflow/domain';
import { findLiveObjects, findStored, inHalves, recordOrphans } from '@pasteflow/postgres';
import type { ListedObject } from '@pasteflow/s3';
import type { RefusedRows } from '../running/refused-rows.ts';
import { Findings } from '../running/findings.ts';
import type { JanitorContext } from '../context.ts';

/** What a run compares with. */
export type Compared = Pick<JanitorContext, 'db' | 'store' | 'logger' | 'jobRetentionSeconds'> & {
  readonly refused: RefusedRows;
};

export interface ReconcileRange {
  /** The start of the run: rows that got their object later may not be in the listing. */
  readonly before: Date;
  /** Objects and uploads that are younger are left alone. */
  readonly oldEnough: Date;
}

/** Rows for each statement. */
const BATCH = 1000;

/**
 * Compares the objects under `pastes/` with the pastes: records objects without a live row, and reports
 * pastes without an object. S3 lists keys in byte order, and the statement returns short codes in the same
 * order (COLLATE "C"), so the two are merged page by page, in constant memory.
 */
export async function reconcilePastes(
  options: Compared,
  { before, oldEnough }: ReconcileRange,
  counts: Record<'listed' | 'orphans' | 'foreign' | 'missing', number>,
  signal: AbortSignal,
): Promise<void> {
  const { db, store, logger } = options;
  const missing = new Findings();
  const foreign = new Findings();
  let after = '';
  const storedUpTo = (upTo: string | null) =>
    storedAfter(after, signal, (last, limit) => findStored(db, { after: last, upTo, before, limit }));
  for await (const page of store.list(OBJECT_KEY_PREFIX)) {
    if (signal.aborted) break;
    const codes = new Set(page.map(({ key }) => shortCodeOfKey(key)).filter((code) => code !== null));
    const pasteObjects = page.filter(({ key }) => shortCodeOfKey(key) !== null);
    foreign.add(page.map(({ key }) => key).filter((key) => shortCodeOfKey(key) === null));
    counts.listed += page.length;
    counts.orphans += await recordOrphansOf(options, pasteObjects, { before, oldEnough });
    const upTo = lastInOrder(codes, after);
    for await (const stored of storedUpTo(upTo)) missing.add(stored.filter((code) => !codes.has(code)));
    after = upTo;
  }
  for await (const stored of storedUpTo(null)) missing.add(stored);
  counts.missing += missing.count;
  counts.foreign += foreign.count;
  if (missing.count > 0)
    logger.error('pastes without an object', { count: missing.count, short_codes: missing.named });
  if (foreign.count > 0)
    logger.warn('objects that belong to no paste left alone', { count: foreign.count, keys: foreign.named });
}

/** Records those objects of a page that are old enough and have no live row. @returns how many */
export async function recordOrphansOf(
  { db, refused }: Pick<Compared, 'db' | 'refused'>,
  page: readonly ListedObject[],
  { before, oldEnough }: ReconcileRange,
): Promise<number> {
  const old = page.filter(({ lastModified }) => lastModified <= oldEnough);
  const live = await findLiveObjects(
    db,
    old.map(({ key }) => key),
  );
  const orphans = old.filter(({ key }) => !live.has(key));
  await inHalves(
    orphans,
    (part) => recordOrphans(db, part, before),
    ({ key }, error) => refused.of('orphan_objects')(key, error),
  );
  return orphans.length;
}

/**
 * Yields the names that `find` returns in order, in batches, until the signal is aborted.
 * @param find a batch of the names after `after`; one smaller than `limit` is the last
 */
export async function* storedAfter(
  start: string,
  signal: AbortSignal,
  find: (after: string, limit: number) => Promise<readonly string[]>,
) {
  let after = start;
  while (!signal.aborted) {
    const stored = await find(after, BATCH);
    yield stored;
    after = stored.at(-1) ?? after;
    if (stored.length < BATCH) break;
  }
}

/**
 * In any order but that of the table, objects would wrongly be reported as missing.
 * @throws when the codes don't ascend from `after` on
 */
function lastInOrder(codes: Iterable<string>, after: string): string {
  let last = after;
  for (const code of codes) {
    if (code <= last) throw new Error(`S3 does not list keys in byte order: ${code} came after ${last}`);
    last = code;
  }
  return last;
}
