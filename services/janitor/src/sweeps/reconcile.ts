import { databaseTime, type Database } from '@pasteflow/postgres';
import type { Logger } from '@pasteflow/runtime';
import type { ObjectStore } from '@pasteflow/s3';
import type { Sweep, SweepCounts } from '../sweeping/sweep.ts';
import { deleteOrphans } from './reconcile/delete-orphans.ts';
import { reconcileJobs } from './reconcile/reconcile-jobs.ts';
import { reconcilePastes } from './reconcile/reconcile-pastes.ts';

export interface ReconcileOptions {
  readonly db: Database;
  readonly store: ObjectStore;
  /** Objects that are younger are left alone. */
  readonly minAgeSeconds: number;
  /** An object is deleted by a run that starts this long after the run that first found it without a live row. */
  readonly orphanGraceSeconds: number;
  /** Lets one run delete more objects than `isMassDeletion` allows. */
  readonly allowMassDeletion: boolean;
  readonly jobRetentionSeconds: number;
  readonly logger: Logger;
}

/**
 * Compares S3 with the tables. The first pass lists the bucket, records the objects without a live row, and reports the rows without an
 * object. Only after a complete pass are those objects deleted that were recorded long enough ago, and only when they are few
 * (ADR 26).
 */
export class Reconcile implements Sweep {
  readonly name = 'reconcile';
  readonly #options: ReconcileOptions;

  constructor(options: ReconcileOptions) {
    this.#options = options;
  }

  /**
   * `orphans`: objects without a live row that are older than the minimum age. Of those, `removed` were deleted, `refused` are those that S3
   * did not delete, and `held` those that are too many to be deleted without `--allow-mass-deletion`. `foreign`: keys that belong to
   * neither a paste nor a job; they are left alone. `missing`: pastes and assets of jobs without an object; they are only reported.
   * `aborted`: abandoned multipart uploads of jobs.
   */
  async runOnce(signal: AbortSignal): Promise<SweepCounts> {
    const { db, minAgeSeconds } = this.#options;
    const before = await databaseTime(db);
    const range = { before, oldEnough: new Date(before.getTime() - minAgeSeconds * 1000) };
    const pastes = await reconcilePastes(this.#options, range, signal);
    const jobs = await reconcileJobs(this.#options, range, signal);
    const listed = pastes.listed + jobs.listed;
    const deletion = signal.aborted
      ? { removed: 0, refused: 0, held: 0 }
      : await deleteOrphans(this.#options, { seenAt: before, listed }, signal);
    return {
      listed,
      orphans: pastes.orphans + jobs.orphans,
      ...deletion,
      foreign: pastes.foreign + jobs.foreign,
      missing: pastes.missing + jobs.missing,
      aborted: jobs.aborted,
    };
  }
}
