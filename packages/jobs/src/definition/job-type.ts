import type { Database } from '@pasteflow/postgres';
import type { ObjectStore } from '@pasteflow/s3';
import type { ShortCodes } from '@pasteflow/pastes';
import type { z } from 'zod';

/** What a job's work has to work with, for as long as its execution is its own. */
export interface JobContext<Parameters> {
  readonly jobId: string;
  readonly userId: string;
  /** This attempt: whatever is written for the job is fenced by it. */
  readonly executionId: string;
  readonly parameters: Parameters;
  /** Aborted when the execution is lost, or the worker is being stopped: the work ends as soon as it can, by throwing. */
  readonly signal: AbortSignal;
  readonly logger: JobLogger;
  /**
   * Tells how far it is, 0 to 100, with an optional message. It is written at most once a second, and never goes backwards. Never throws and
   * never waits.
   */
  readonly progress: (percent: number, message?: string) => void;
  /** @throws ExecutionTakenError when the execution isn't this worker's any more: nothing was made */
  readonly createAsset: (asset: NewJobAsset) => Promise<void>;
  readonly services: JobServices;
}

interface NewJobAsset {
  readonly assetType: string;
  /** The key in the bucket. */
  readonly storagePath: string;
  /** Bytes. */
  readonly fileSize: number;
}

/** What the worker stands on, for a job type to use. */
export interface JobServices {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly maxPasteBytes: number;
  readonly newShortCode: ShortCodes;
  /** Sends the messages of uploads that were just committed; never throws and never waits. What isn't sent, the relay sends. */
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
 * How a job's work ended. Anything else is thrown, and is an attempt that failed: it is tried again, and what was made stays.
 * `partial`: some of the work was done (there are assets) and some failed; `failed`: none was, and trying again would not change it.
 */
export type JobEnding =
  | { readonly status: 'completed'; readonly result: JobResult }
  | { readonly status: 'partial' | 'failed'; readonly result: JobResult; readonly error: string };

type JobResult = Readonly<Record<string, unknown>>;

/** A kind of job. */
export interface JobType<Schema extends z.ZodType = z.ZodType> {
  /** `job_type` in the API. */
  readonly name: string;
  /** One sentence, for the API's document. */
  readonly summary: string;
  /** Of `parameters`; what it outputs must be plain JSON, for it is stored. */
  readonly parameters: Schema;
  /** An example of `parameters`, as a client sends them. */
  readonly example: z.input<Schema>;
  /** The short codes that a job of these parameters will look up: to name one is a guess, as reading it would be. None unless told. */
  readonly readShortCodes?: (parameters: z.output<Schema>) => readonly string[];
  run(context: JobContext<z.output<Schema>>): Promise<JobEnding>;
}

/** For a job type's file: keeps `run` and the schema of one type. */
export function defineJobType<Schema extends z.ZodType>(type: JobType<Schema>): JobType<Schema> {
  return type;
}
