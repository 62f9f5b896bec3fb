import { OBJECT_KEY_PREFIX, shortCodeOfKey } from '@pasteflow/domain';
import { databaseTime, findLive, findStored, type Database } from '@pasteflow/postgres';
import type { Logger } from '@pasteflow/runtime';
import type { ListedObject, ObjectStore } from '@pasteflow/s3';
import { deleteObjects } from '../delete-objects.ts';
import type { Sweep, SweepCounts } from '../sweep.ts';

export interface ReconcileOptions {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly minAgeSeconds: number;
  readonly logger: Logger;
}

const BATCH = 1000;

/** Short codes and keys that a run names in the log; the counts say how many there are. */
const MAX_NAMED = 100;

/**
 * Compares S3 with the table: removes objects without a live row, reports rows without an object. S3 lists in byte order, and so does the
 * table (COLLATE "C"), so that the two are merged page by page, in constant memory.
 */
export class Reconcile implements Sweep {
  readonly name = 'reconcile';
  readonly #options: ReconcileOptions;

  constructor(options: ReconcileOptions) {
    this.#options = options;
  }

  /**
   * `removed` and `refused`: objects without a live row; younger ones are left for a later run. `foreign`: keys that are no paste's, left
   * alone. `missing`: rows without an object, changed in nothing: somebody has to look.
   */
  async runOnce(signal: AbortSignal): Promise<SweepCounts> {
    const { db, store, minAgeSeconds, logger } = this.#options;
    const before = await databaseTime(db);
    const oldEnough = new Date(before.getTime() - minAgeSeconds * 1000);
    const missing = new Findings();
    const foreign = new Findings();
    const counts = { listed: 0, removed: 0, refused: 0 };
    let after = '';
    for await (const page of store.list(OBJECT_KEY_PREFIX)) {
      if (signal.aborted) break;
      const codes = shortCodesOf(page);
      foreign.add(page.map(({ key }) => key).filter((key) => shortCodeOfKey(key) === null));
      const orphans = await this.#removeOrphans(codes, oldEnough);
      counts.listed += page.length;
      counts.removed += orphans.removed;
      counts.refused += orphans.refused;
      const upTo = lastInOrder(codes.keys(), after);
      for await (const stored of this.#storedBetween({ after, upTo, before }, signal)) {
        missing.add(stored.filter((code) => !codes.has(code)));
      }
      after = upTo;
    }
    for await (const stored of this.#storedBetween({ after, upTo: null, before }, signal))
      missing.add(stored);
    if (missing.count > 0) {
      logger.error('pastes without an object', { count: missing.count, shortCodes: missing.named });
    }
    if (foreign.count > 0) {
      logger.warn('objects that are not pastes', { count: foreign.count, keys: foreign.named });
    }
    return { ...counts, foreign: foreign.count, missing: missing.count };
  }

  async #removeOrphans(
    codes: ReadonlyMap<string, Date>,
    oldEnough: Date,
  ): Promise<{ removed: number; refused: number }> {
    const { db, store, logger } = this.#options;
    const old = [...codes].filter(([, lastModified]) => lastModified < oldEnough).map(([code]) => code);
    const live = await findLive(db, old);
    const orphans = old.filter((code) => !live.has(code));
    const refused = (await deleteObjects(store, orphans)).size;
    if (orphans.length > 0) {
      const shortCodes = orphans.slice(0, MAX_NAMED);
      logger.warn('objects without a live row were deleted', { count: orphans.length, refused, shortCodes });
    }
    return { removed: orphans.length - refused, refused };
  }

  /** Batches of the rows that should have an object; none any more once the signal is aborted. */
  async *#storedBetween(range: { after: string; upTo: string | null; before: Date }, signal: AbortSignal) {
    let { after } = range;
    while (!signal.aborted) {
      const stored = await findStored(this.#options.db, { ...range, after, limit: BATCH });
      yield stored;
      after = stored.at(-1) ?? after;
      if (stored.length < BATCH) break;
    }
  }
}

/** How many there are, and the first of them by name. */
class Findings {
  count = 0;
  readonly named: string[] = [];

  add(names: readonly string[]): void {
    this.count += names.length;
    this.named.push(...names.slice(0, MAX_NAMED - this.named.length));
  }
}

/** Of a page, in key order, each with the age of its object. */
function shortCodesOf(page: readonly ListedObject[]): ReadonlyMap<string, Date> {
  const entries = page.map(({ key, lastModified }) => [shortCodeOfKey(key), lastModified] as const);
  return new Map(entries.filter((entry): entry is [string, Date] => entry[0] !== null));
}

/** Another order than the table's would make every gap a missing object. @throws when the codes don't ascend from `after` on */
function lastInOrder(codes: Iterable<string>, after: string): string {
  let last = after;
  for (const code of codes) {
    if (code <= last) throw new Error(`S3 does not list in byte order: ${code} came after ${last}`);
    last = code;
  }
  return last;
}
