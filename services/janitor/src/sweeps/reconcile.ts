import { databaseTime, type Database } from '@pasteflow/postgres';
import type { Logger } from '@pasteflow/runtime';
import type { ObjectStore } from '@pasteflow/s3';
import { defineSweep, type Sweep } from './running/sweep.ts';
import { deleteOrphans } from './reconcile/delete-orphans.ts';
import { reconcileJobs } from './reconcile/reconcile-jobs.ts';
import { reconcilePastes } from './reconcile/reconcile-pastes.ts';

export interface ReconcileOptions {
  readonly db: Database;
  readonly store: ObjectStore;
  /** Objects that are younger are left alone. */
  readonly minAgeSeconds: number;
  /**
   * An object is deleted by a run that starts this long after the run that first found it without a live row.
   */
  readonly orphanGraceSeconds: number;
  /** Lets one run delete more objects than `isMassDeletion` allows. */
  readonly allowMassDeletion: boolean;
  readonly jobRetentionSeconds: number;
  readonly logger: Logger;
}

/**
 * Compares S3 with the tables. The first pass lists the bucket, records the objects without a live row, and
 * reports the rows without an object. Only after a complete pass are those objects deleted that were recorded
 * long enough ago, and only when they are few (ADR 26).
 *
 * `orphans`: objects without a live row that are older than the minimum age. Of those, `removed` were
 * deleted, `refused` are those that S3 did not delete, and `held` those that are too many to be deleted
 * without `--allow-mass-deletion`. `foreign`: keys that belong to neither a paste nor a job; they are left
 * alone. `missing`: pastes and assets of jobs without an object; they are only reported. `aborted`: abandoned
 * multipart uploads of jobs.
 */
export function createReconcile(options: ReconcileOptions): Sweep<'reconcile'> {
  const zero = { listed: 0, orphans: 0, removed: 0, refused: 0, held: 0, foreign: 0, missing: 0, aborted: 0 };
  return defineSweep('reconcile', zero, async (counts, signal, refused) => {
    const refusing = { ...options, refused };
    const before = await databaseTime(options.db);
    const range = { before, oldEnough: new Date(before.getTime() - options.minAgeSeconds * 1000) };
    await reconcilePastes(refusing, range, counts, signal);
    await reconcileJobs(refusing, range, counts, signal);
    if (!signal.aborted) await deleteOrphans(options, before, counts, signal);
  });
}
