import type { House, JobState } from '@pasteflow/domain';
import type { ColumnType, Generated, JSONColumnType } from 'kysely';

export interface JobsTable {
  id: Generated<string>;
  user_id: string;
  job_type: string;
  /** Given by the client, such as the name of a file; NULL: none. */
  title: string | null;
  status: Generated<JobState>;
  /** Per cent, 0 to 100. */
  progress: Generated<number>;
  progress_message: string | null;
  error_message: string | null;
  /** Without those that are content of pastes. */
  parameters: JSONColumnType<Record<string, unknown>>;
  /** The parameters that are content of pastes, until the job ends. Only the worker reads them. */
  payload: JSONColumnType<Record<string, unknown>> | null;
  result: JSONColumnType<Record<string, unknown>> | null;
  /** The job that this one retries. */
  retry_of: string | null;
  /** The job that retries this one. */
  retried_as: string | null;
  /** It was created with a payload. */
  had_content: Generated<boolean>;
  /** How long the house let pastes be kept when an import was accepted. Only the worker reads it. NULL: by no rule. */
  expiry_rules: JSONColumnType<House['expiry']> | null;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
  /** Set exactly in a terminal state. */
  completed_at: Date | null;
}

/** All columns but those that only the worker reads. */
export const shownJobColumns = [
  'id',
  'user_id',
  'job_type',
  'title',
  'status',
  'progress',
  'progress_message',
  'error_message',
  'parameters',
  'result',
  'retry_of',
  'retried_as',
  'had_content',
  'created_at',
  'updated_at',
  'completed_at',
] as const satisfies readonly (keyof JobsTable)[];

export interface AssetsTable {
  id: Generated<string>;
  job_id: string;
  user_id: string;
  asset_type: string;
  /**
   * The URL of the content: `s3://bucket/key`. The URL that clients get is made from this one on each read.
   */
  url: string;
  /** The key in the bucket. */
  storage_path: string;
  /** Bytes. pg returns a bigint as text. */
  file_size: ColumnType<string, number, number>;
  /** The entry of the input that the asset was made from, from 0; NULL: not made from a single entry. */
  position: number | null;
  /** The number of an archive of an export, from 1; NULL: no archive. */
  number: number | null;
  /** What is in it, and the place behind which the next archive begins. Only the worker reads it. */
  checkpoint: JSONColumnType<object> | null;
  created_at: Generated<Date>;
}
