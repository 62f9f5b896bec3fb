import { insertedPasteColumns } from './inserted-paste-columns.ts';
import type { RoleRights } from './table-rights.ts';

/** Claims and settles executions, and creates the pastes and assets of jobs. Sees no token and no stored answer. */
export const workerRights: RoleRights = {
  users: 'none',
  api_tokens: 'none',
  pastes: {
    select: 'all',
    insert: insertedPasteColumns,
    update: ['status', 's3_url', 'stored_encoding', 'processed_at', 'failure_reason', 'failed_at'],
  },
  paste_payloads: {
    select: 'all',
    insert: ['paste_id', 'content', 'user_id', 'created_at'],
    delete: true,
  },
  failed_payloads: { insert: ['paste_id', 'content'] },
  paste_retries: 'none',
  takedowns: 'none',
  content_blocks: { select: ['content_hash', 'unblocked_at'] },
  operator_actions: 'none',
  jobs: {
    select: 'all',
    update: [
      'status',
      'progress',
      'progress_message',
      'error_message',
      'result',
      'payload',
      'updated_at',
      'completed_at',
    ],
  },
  assets: {
    select: 'all',
    insert: ['job_id', 'user_id', 'asset_type', 'url', 'storage_path', 'file_size', 'position'],
    delete: true,
  },
  task_executions: {
    select: 'all',
    insert: ['kind', 'subject_id', 'user_id', 'attempt', 'losses', 'run_at', 'dispatched_at'],
    update: [
      'status',
      'worker_id',
      'started_at',
      'dispatched_at',
      'lease_expires_at',
      'error',
      'finished_at',
    ],
  },
  state_transitions: 'none',
  uncounted_transitions: 'none',
  transition_statistics: 'none',
  sweep_runs: 'none',
  installation: { select: 'all' },
  bucket_adoptions: 'none',
  orphan_objects: 'none',
  idempotency_keys: 'none',
  rate_limits: { select: 'all', insert: 'all', update: ['points', 'expire'] },
};
