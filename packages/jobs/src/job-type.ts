import type { House } from '@pasteflow/domain';
import type { Database, Quotas } from '@pasteflow/postgres';
import type { ObjectStore } from '@pasteflow/s3';
import type { ShortCodes } from '@pasteflow/service-kit';
import type { z } from 'zod';

/** Everything that `run` of a job type gets. Valid while the worker holds the lease of the execution. */
export interface JobContext<Parameters> {
  readonly jobId: string;
  readonly userId: string;
  /**
   * The fencing token of this attempt. Every write for the job requires that this execution is still RUNNING.
   */
  readonly executionId: string;
  readonly parameters: Parameters;
  /** The rules of new pastes when the job was accepted: its user was answered by them. */
  readonly house: House;
  /**
   * Aborted when the lease is lost or the worker stops. `run` must then end as soon as it can, by throwing.
   */
  readonly signal: AbortSignal;
  /**
   * Aborted some seconds before `signal` when the worker stops. Work that can go on where it ended commits what it
   * has, and throws the signal's reason. That spends no attempt.
   */
  readonly stopping: AbortSignal;
  readonly logger: JobLogger;
  /**
   * Reports the progress, 0 to 100, with an optional message. At most one write a second; never decreases,
   * throws or waits.
   */
  readonly progress: (percent: number, message?: string) => void;
  /** @throws ExecutionTakenError when this worker no longer holds the execution. Nothing was written then. */
  readonly createAsset: (asset: NewJobAsset) => Promise<void>;
  readonly services: JobServices;
}

interface NewJobAsset {
  readonly assetType: string;
  /** The key of its object. */
  readonly storagePath: string;
  /** In bytes. */
  readonly fileSize: number;
  /**
   * For one of several archives of the job, numbered from 1. The checkpoint is what the next attempt needs to go
   * on behind it. It must be plain JSON.
   */
  readonly archive?: { readonly number: number; readonly checkpoint: object };
}

/** The worker's services for job types. */
export interface JobServices {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly maxPasteBytes: number;
  /** What users may store. Default: null, no quotas. */
  readonly quotas?: Quotas | null;
  /** With more open uploads of its user, an import makes none. Default: those of `requireUploadTurn`. */
  readonly maxOpenUploads?: { readonly uploads: number; readonly bytes: number };
  readonly newShortCode: ShortCodes;
  /**
   * Dispatches the messages of committed uploads. Never throws or waits: the relay sends what could not be
   * sent.
   */
  readonly dispatchUploads: (uploads: readonly NewUpload[]) => void;
}

export interface NewUpload {
  readonly executionId: string;
  readonly shortCode: string;
  readonly content: Buffer;
}

interface JobLogger {
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
}

/**
 * How `run` ended. `partial`: some of the work was done (there are assets) and some failed. `failed`: none of
 * the work was done, and another attempt would not change that. An error that `run` throws fails the attempt
 * instead: assets stay, and another attempt follows.
 */
export type JobEnding =
  | { readonly status: 'completed'; readonly result: JobResult }
  | { readonly status: 'partial' | 'failed'; readonly result: JobResult; readonly error: string };

type JobResult = Readonly<Record<string, unknown>>;

/** A type of job. */
export interface JobType<Schema extends z.ZodType = z.ZodType> {
  /** The value of `job_type` in the API. */
  readonly name: string;
  /** One sentence for the OpenAPI document. */
  readonly summary: string;
  /** The schema of `parameters`. Its output is stored, so it must be plain JSON. */
  readonly parameters: Schema;
  /**
   * The parameters that are content of pastes (default: none). No view of the job shows them, and they are
   * deleted when the job ends.
   */
  readonly contentParameters?: readonly (keyof z.output<Schema>)[];
  /** How many jobs of this type a user may have that wait or run (default: MAX_OPEN_JOBS_PER_USER). */
  readonly maxOpen?: number;
  /** Example parameters, as a client sends them. */
  readonly example: z.input<Schema>;
  /**
   * The short codes that a job with these parameters reads. They count as guesses, like requests that read a
   * paste.
   */
  readonly readShortCodes: (parameters: z.output<Schema>) => readonly string[];
  run(context: JobContext<z.output<Schema>>): Promise<JobEnding>;
}

/** Checks that `run` takes what the schema of the parameters outputs. */
export function defineJobType<Schema extends z.ZodType>(type: JobType<Schema>): JobType<Schema> {
  return type;
}

/**
 * Fails the attempt for a reason that the owner of the job may read; another attempt may succeed. The
 * messages of all other errors are for operators.
 */
export class WorkFailedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'WorkFailedError';
  }
}

/**
 * Gives the job back for `delayMs`, without spending an attempt: what it has made stays, and its consumer
 * serves others meanwhile.
 */
export class WorkYieldedError extends Error {
  readonly delayMs: number;

  constructor(delayMs: number) {
    super('The job waits until fewer uploads of its user are open.');
    this.name = 'WorkYieldedError';
    this.delayMs = delayMs;
  }
}
