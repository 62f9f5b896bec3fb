/** What the worker of each queue gets. */
export interface PeerOptions {
  /** The folder in which the library is installed. */
  readonly folder: string;
  readonly databaseUrl: string;
  /** The work of a job. */
  readonly put: (text: string) => Promise<void>;
}

/** A queue in Postgres, as the benchmark uses it. */
export interface PeerQueue {
  fill(texts: readonly string[]): Promise<void>;
  /** Works until it is stopped. Resolves to a function that stops when the ends of jobs are in Postgres. */
  work(): Promise<() => Promise<void>>;
}

/** As one upload-worker has them: UPLOAD_CONCURRENCY consumers of 10 messages, and DATABASE_POOL_SIZE. */
export const CONSUMERS = 4;
export const BATCH = 10;
export const CONNECTIONS = 10;
