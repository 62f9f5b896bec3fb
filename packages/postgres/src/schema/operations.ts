import type { Generated } from 'kysely';

/** One row: the identity of this database. The bucket repeats the id in its object `pasteflow-owner`. */
export interface InstallationTable {
  one: Generated<true>;
  id: Generated<string>;
  /** When the database was migrated for the first time, or to the version that introduced this table. */
  created_at: Generated<Date>;
  /** The key of the hashes of reporters. No service may read it. */
  reporter_key: Generated<Buffer>;
}

/** A row for each time that an operator gave a bucket to this database. */
export interface BucketAdoptionsTable {
  at: Generated<Date>;
  bucket: string;
  /** The owner that the bucket named before; NULL: it named none. */
  previous_owner: string | null;
  adopted_by: string;
  objects_found: string;
  objects_known: string;
}

/** Something that an operator did. The row is inserted first, and `outcome` set when it is done. */
export interface OperatorActionsTable {
  id: Generated<string>;
  at: Generated<Date>;
  actor: string;
  /** For example `takedown` or `run sweep`. */
  action: string;
  /** A short code, the id of a user or job, a content hash or the name of a sweep; NULL: none. */
  subject: string | null;
  /** In the words of the operator. */
  reason: string;
  /** What was done, or why it failed, in words; NULL: the process died meanwhile, or is still at it. */
  outcome: string | null;
}

/** An object in the bucket that has no live row. `reconcile` records it, and a later run deletes it. */
export interface OrphanObjectsTable {
  key: string;
  /**
   * As S3 gives it. An object that was written again since is another orphan, with a grace period of its own.
   */
  last_modified: Date;
  first_seen_at: Date;
  /** The start of the last run that found it. */
  last_seen_at: Date;
}

/** The last run of each sweep that was not skipped, on any janitor. */
export interface SweepRunsTable {
  sweep: string;
  started_at: Date;
  ended_at: Date;
  outcome: 'done' | 'failed';
  /** When the last successful run ended; NULL: no run was successful. */
  last_success_at: Date | null;
  seconds: number;
  counts: Record<string, number>;
  /** The rows that Postgres refuses to the sweep. */
  refused: Generated<readonly { readonly row: string; readonly error: string; readonly failures: number }[]>;
  /** The instance that ran the sweep. */
  janitor: string;
}
