import { shownJobColumns } from '../schema/jobs.ts';
import type { RoleRights } from './table-rights.ts';
import { workerRights } from './rights-of-worker.ts';

type RightsOn<Table extends keyof RoleRights> = Exclude<RoleRights[Table], 'none'>;

/** The reaper and the sweep of the dead letters settle executions as a worker does. */
const ofWorker = {
  pastes: workerRights.pastes as RightsOn<'pastes'>,
  jobs: workerRights.jobs as RightsOn<'jobs'>,
  executions: workerRights.task_executions as RightsOn<'task_executions'>,
};

/** Settles for crashed workers, sweeps, measures. `npm run ops` runs with the janitor's rights. */
export const janitorRights: RoleRights = {
  users: 'none',
  api_tokens: 'none',
  pastes: {
    ...ofWorker.pastes, // `ops retry` inserts
    update: [
      ...(ofWorker.pastes.update ?? []),
      'deletion_status',
      'deletion_initiated_at',
      'deleted_at',
      'title',
      // `ops takedown`
      'deletion_requested_at',
      'taken_down_for',
    ],
    delete: true,
  },
  paste_payloads: {
    select: 'all',
    insert: ['paste_id', 'content', 'user_id', 'created_at'],
    delete: true,
  },
  failed_payloads: {
    select: 'all',
    insert: ['paste_id', 'content'],
    update: ['paste_id'], // to lock a row
    delete: true,
  },
  paste_retries: {
    select: 'all',
    insert: [
      'retried_from',
      'execution_ids',
      'paste_id',
      'created_at',
      'failed_at',
      'failure_reason',
      'actor',
      'reason',
    ],
    update: ['paste_id'],
  },
  // Nobody may change or delete the record of a takedown.
  takedowns: {
    select: 'all',
    insert: ['paste_id', 'short_code', 'content_hash', 'class', 'reason', 'actor'],
  },
  content_blocks: {
    select: 'all',
    insert: ['content_hash', 'class', 'reason', 'actor', 'older'],
    update: ['unblocked_at', 'unblocked_by', 'unblock_reason'],
  },
  operator_actions: {
    select: 'all',
    insert: ['actor', 'action', 'subject', 'reason'],
    update: ['outcome'],
  },
  jobs: { ...ofWorker.jobs, select: shownJobColumns, delete: true },
  assets: { select: 'all' },
  task_executions: {
    ...ofWorker.executions,
    insert: [
      'kind',
      'subject_id',
      'user_id',
      'attempt',
      'losses',
      'run_at',
      'dispatched_at',
      'rescued_by',
      'rescue_reason',
    ],
    delete: true, // orphans, and those of removed pastes and jobs
  },
  state_transitions: { select: 'all' },
  uncounted_transitions: { select: 'all', delete: true },
  transition_statistics: {
    select: 'all',
    insert: ['machine', 'from', 'to', 'count', 'seconds', 'buckets'],
    update: ['count', 'seconds', 'buckets'],
  },
  sweep_runs: {
    select: 'all',
    insert: 'all',
    update: ['started_at', 'ended_at', 'outcome', 'last_success_at', 'seconds', 'counts', 'janitor'],
  },
  installation: { select: 'all' },
  bucket_adoptions: {
    select: 'all',
    insert: ['bucket', 'previous_owner', 'adopted_by', 'objects_found', 'objects_known'],
  },
  orphan_objects: {
    select: 'all',
    insert: 'all',
    update: ['last_modified', 'first_seen_at', 'last_seen_at'],
    delete: true,
  },
  idempotency_keys: {
    select: ['caller', 'key_hash', 'created_at', 'claimed_until'],
    update: ['claimed_until'], // to lock a row
    delete: true,
  },
  rate_limits: { select: 'all', update: ['expire'], delete: true }, // the update: to lock a row
};
