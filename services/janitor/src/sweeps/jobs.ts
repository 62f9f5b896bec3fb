import { DependencyUnavailableError, jobKeyPrefix } from '@pasteflow/domain';
import { findOldJobs, removeJobs, type Database, type OldJob } from '@pasteflow/postgres';
import type { Logger } from '@pasteflow/runtime';
import { describeS3Error, type ObjectStore } from '@pasteflow/s3';
import { inLanes } from '../sweeping/in-lanes.ts';
import type { Sweep, SweepCounts } from '../sweeping/sweep.ts';

export interface JobsOptions {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly retentionSeconds: number;
  readonly logger: Logger;
}

/** Rows a statement. Their folders are emptied before it, by two requests each at least: some 50 a second and lane. */
const BATCH = 200;

/** Folders at a time. */
const LANES = 8;

interface FolderCounts {
  objects: number;
  aborted: number;
}

/**
 * Removes jobs that ended long ago, with what they made: first the objects in the job's folder and the multipart uploads that were left
 * there, then the row with its assets and executions. Without the row nobody would know of the objects; a job whose folder S3 fails to empty
 * keeps its row for the next run, and holds up no other. The pastes of an import aren't the job's, and stay.
 *
 * A worker that was frozen in the middle of a put may thaw after this and end it. It was declared lost while its job was still open, so
 * that this takes a freeze longer than the retention time; its object has then no row, and `reconcile` removes it a day later. It can't
 * come between the two halves of this sweep either: each attempt has a key of its own, so that nothing is replaced, only added.
 */
export class Jobs implements Sweep {
  readonly name = 'jobs';
  readonly #options: JobsOptions;

  constructor(options: JobsOptions) {
    this.#options = options;
  }

  /** By job: `removed`, and `refused` where its folder could not be emptied. Beside it, of all these jobs: `objects` deleted, and multipart uploads `aborted`. */
  async runOnce(signal: AbortSignal): Promise<SweepCounts> {
    const { db, retentionSeconds, logger } = this.#options;
    const counts = { removed: 0, refused: 0, objects: 0, aborted: 0 };
    let after: OldJob | null = null;
    while (!signal.aborted) {
      const old: readonly OldJob[] = await findOldJobs(db, { retentionSeconds, after, limit: BATCH });
      const emptied: string[] = [];
      const reasons: string[] = [];
      try {
        await inLanes(old, { lanes: LANES, signal }, async ({ id }) => {
          const reason = await this.#tryToEmpty(id, counts, signal);
          if (reason === null) emptied.push(id);
          else reasons.push(reason);
        });
      } finally {
        counts.removed += await removeJobs(db, emptied);
      }
      if (reasons.length > 0)
        logger.warn('objects of old jobs were not deleted', { count: reasons.length, reason: reasons[0] });
      counts.refused += reasons.length;
      after = old.at(-1) ?? null;
      if (old.length < BATCH) break;
    }
    return counts;
  }

  /**
   * @returns why the folder could not be emptied; null: it is empty
   * @throws DependencyUnavailableError when it is not about this folder: S3 answers to nothing
   */
  async #tryToEmpty(jobId: string, counts: FolderCounts, signal: AbortSignal): Promise<string | null> {
    try {
      return await this.#empty(jobId, counts);
    } catch (error) {
      if (!(error instanceof DependencyUnavailableError)) throw error;
      await this.#options.store.ping(signal).catch((away: unknown) => {
        if (!signal.aborted) throw away;
      });
      return describeS3Error(error.cause);
    }
  }

  /** @returns why S3 refused to delete one of the objects; null: the folder is empty. @throws DependencyUnavailableError */
  async #empty(jobId: string, counts: FolderCounts): Promise<string | null> {
    const { store } = this.#options;
    const folder = jobKeyPrefix(jobId);
    let reason: string | null = null;
    for await (const page of store.listMultipartUploads(folder)) {
      for (const upload of page) await store.abortMultipartUpload(upload);
      counts.aborted += page.length;
    }
    for await (const page of store.list(folder)) {
      const refused = await store.deleteMany(page.map(({ key }) => key));
      counts.objects += page.length - refused.length;
      reason ??= refused[0]?.reason ?? null;
    }
    return reason;
  }
}
