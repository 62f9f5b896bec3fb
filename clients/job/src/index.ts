// What a file of JOB_TYPES exports, and what it gets.
import type { z } from 'zod';

export type { z };

/** The default export of the file. */
export type MakeJobTypes = (kit: Kit) => JobType | readonly JobType[] | Promise<JobType | readonly JobType[]>;

/** What the service gives a file of job types when it loads it. */
export interface Kit {
  /** zod, of the service. The schema of the parameters is made with it, and with no other copy. */
  readonly z: typeof z;
  /** Returns the type as it is. It checks that `run` takes what the schema of the parameters outputs. */
  readonly defineJobType: <Schema extends z.ZodType>(type: JobType<Schema>) => JobType<Schema>;
  /**
   * Thrown by `run`, it fails the attempt for a reason that the owner of the job may read; another attempt
   * follows. The messages of all other errors are for operators.
   */
  readonly WorkFailedError: new (message: string, options?: { readonly cause?: unknown }) => Error;
  /** The log of the service. A job has its own, `context.log`. */
  readonly log: Log;
}

/** A type of job. */
export interface JobType<Schema extends z.ZodType = z.ZodType> {
  /** The value of `job_type` in the API: words of a-z and 0-9, joined by hyphens. */
  readonly name: string;
  /** One sentence for the OpenAPI document. */
  readonly summary: string;
  /** The schema of `parameters`, an object. Its output is stored, so it is plain JSON, and parsed again. */
  readonly parameters: Schema;
  /** Example parameters, as a client sends them. */
  readonly example: z.input<Schema>;
  /**
   * The parameters that are content of pastes (default: none). No view of the job shows them, and they are
   * deleted when the job ends.
   */
  readonly contentParameters?: readonly (keyof z.output<Schema>)[];
  /** How many jobs of this type a user may have that wait or run (default: MAX_OPEN_JOBS_PER_USER). */
  readonly maxOpen?: number;
  /**
   * The short codes of the pastes that a job with these parameters reads (default: none). They count as guesses
   * of the user, as other reads do.
   */
  readonly readShortCodes?: (parameters: z.output<Schema>) => readonly string[];
  /** May be called again after a crash, by another process, while the first call still runs. */
  run(context: JobContext<z.output<Schema>>): Promise<JobEnding>;
}

/** What `run` gets: one attempt at a job. */
export interface JobContext<Parameters = unknown> {
  readonly jobId: string;
  readonly userId: string;
  readonly parameters: Parameters;
  /**
   * Aborted when the user cancels the job, another process has it, or this one stops. `run` then ends at once, by
   * throwing. What goes on after a second is abandoned.
   */
  readonly signal: AbortSignal;
  /**
   * Aborted some seconds before `signal` when the process stops. Work that can go on where it ended throws the
   * signal's reason, which spends no attempt.
   */
  readonly stopping: AbortSignal;
  readonly log: Log;
  /** Reports the progress, 0 to 100, which never decreases. A message has up to 500 characters. Never throws or waits. */
  readonly progress: (percent: number, message?: string) => void;
  /** The assets of the job, those of earlier attempts included, in the order of their creation. */
  readonly listAssets: () => Promise<readonly Asset[]>;
  /**
   * Stores a file as an asset of the job.
   * @throws when the job has an asset of this name, or when another process has the job: nothing is changed
   */
  readonly saveAsset: (asset: NewAsset) => Promise<void>;
  /** The content of an asset of the job; null: there is none of this name. */
  readonly readAsset: (name: string) => Promise<Uint8Array | null>;
  /** Reads a paste that `readShortCodes` names, with the rights of the job's user. */
  readonly readPaste: (shortCode: string) => Promise<PasteRead>;
}

export interface Asset {
  readonly name: string;
  /** The `asset_type` in the API. */
  readonly type: string;
  readonly bytes: number;
}

export interface NewAsset {
  /** Up to 100 of the characters A-Z, a-z, 0-9, `.`, `_` and `-`, and no dot first. Its extension is the download's. */
  readonly name: string;
  /** Default: `file`. */
  readonly type?: string;
  readonly content: string | Uint8Array | AsyncIterable<Uint8Array>;
}

export type PasteRead =
  | { readonly kind: 'content'; readonly content: Uint8Array }
  /** The reason is a sentence, which the user may read. */
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * How `run` ended. `partial`: some of the work was done (there are assets) and some failed. `failed`: none of
 * the work was done. Another attempt would change neither; what it could repair is thrown instead. The user reads
 * `error`, of which 500 characters are kept.
 */
export type JobEnding =
  | { readonly status: 'completed'; readonly result: JobResult }
  | { readonly status: 'partial' | 'failed'; readonly result: JobResult; readonly error: string };

/** Plain JSON, up to 64 KiB of it. */
export type JobResult = Readonly<Record<string, unknown>>;

export interface Log {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}
