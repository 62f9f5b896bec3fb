import type { Generated, JSONColumnType } from 'kysely';
import type { JobState } from '@pasteflow/domain';

export interface JobsTable {
  id: Generated<string>;
  user_id: string;
  job_type: string;
  status: Generated<JobState>;
  /** Per cent, 0 to 100. */
  progress: Generated<number>;
  progress_message: string | null;
  error_message: string | null;
  parameters: JSONColumnType<Record<string, unknown>>;
  result: JSONColumnType<Record<string, unknown>> | null;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
  /** Set exactly in a terminal state. */
  completed_at: Date | null;
}
