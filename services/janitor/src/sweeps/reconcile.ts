import { OBJECT_KEY_PREFIX, shortCodeOfKey } from '@pasteflow/domain';
import { databaseTime, findLive, findStored, type Database } from '@pasteflow/postgres';
import type { Logger } from '@pasteflow/runtime';
import type { ListedObject, ObjectStore } from '@pasteflow/s3';
import { deleteObjects } from '../sweeping/delete-objects.ts';
import { Findings, MAX_NAMED } from '../sweeping/findings.ts';
import { reconcileJobs } from './reconcile-jobs.ts';
import type { Sweep, SweepCounts } from '../sweeping/sweep.ts';

export interface ReconcileOptions {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly minAgeSeconds: number;
  readonly jobRetentionSeconds: number;
  readonly logger: Logger;
}

const BATCH = 1000;

/**
 * Compares S3 with the tables: removes objects without a live row, and reports pastes without an object. S3 lists keys in byte order, and the
 * statement returns short codes in the same order (COLLATE "C"), so the two are merged page by page, in constant memory.
 */
export class Reconcile implements Sweep {
  readonly name = 'reconcile';
  readonly #options: ReconcileOptions;

  constructor(options: ReconcileOptions) {
    this.#options = options;
  }

  /**
   * `removed` and `refused`: objects without a live row that are older than the minimum age. `foreign`: keys that belong to neither a paste
   * nor a job; they are left alone. `missing`: pastes and assets of jobs without an object; they are only reported, for an operator to
   * investigate. `aborted`: abandoned multipart uploads of jobs.
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
      logger.error('pastes without an object', { count: missing.count, short_codes: missing.named });
    }
    if (foreign.count > 0) {
      logger.warn('objects that belong to no paste', { count: foreign.count, keys: foreign.named });
    }
    const jobs = await reconcileJobs(this.#options, { before, oldEnough }, signal);
    return {
      listed: counts.listed + jobs.listed,
      removed: counts.removed + jobs.removed,
      refused: counts.refused + jobs.refused,
      foreign: foreign.count + jobs.foreign,
      missing: missing.count + jobs.missing,
      aborted: jobs.aborted,
    };
  }

  async #removeOrphans(
    codes: ReadonlyMap<string, Date>,
    oldEnough: Date,
  ): Promise<{ removed: number; refused: number }> {
    const { db, store, logger } = this.#options;
    const old = [...codes].filter(([, lastModified]) => lastModified <= oldEnough).map(([code]) => code);
    const live = await findLive(db, old);
    const orphans = old.filter((code) => !live.has(code));
    const refused = (await deleteObjects(store, orphans)).size;
    if (orphans.length > 0) {
      const short_codes = orphans.slice(0, MAX_NAMED);
      logger.warn('objects without a live row deleted', { count: orphans.length, refused, short_codes });
    }
    return { removed: orphans.length - refused, refused };
  }

  /** Yields batches of the rows that should have an object, until the signal is aborted. */
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

/** The short codes of a page in key order, each with the time of its object's last modification. */
function shortCodesOf(page: readonly ListedObject[]): ReadonlyMap<string, Date> {
  const entries = page.map(({ key, lastModified }) => [shortCodeOfKey(key), lastModified] as const);
  return new Map(entries.filter((entry): entry is [string, Date] => entry[0] !== null));
}

/** In any order but that of the table, objects would wrongly be reported as missing. @throws when the codes don't ascend from `after` on */
function lastInOrder(codes: Iterable<string>, after: string): string {
  let last = after;
  for (const code of codes) {
    if (code <= last) throw new Error(`S3 does not list keys in byte order: ${code} came after ${last}`);
    last = code;
  }
  return last;
}
