import { contentOptionNames } from '@pasteflow/domain';
import { shownJobColumns } from '../schema/jobs.ts';
import { insertedPasteColumns } from '../schema/pastes.ts';
import type { ServiceRole } from './role-names.ts';
import type { RoleRights } from './role-rights.ts';
import { apiRights } from './api-rights.ts';

/**
 * Claims and settles executions, and creates the pastes and assets of jobs. Sees no token and no stored
 * answer.
 */
const workerRights: RoleRights = {
  users: 'none',
  api_tokens: 'none',
  invitations: 'none',
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
  slug_versions: 'none',
  paste_changes: 'none',
  takedowns: 'none',
  content_blocks: { select: ['content_hash', 'unblocked_at'] },
  paste_reports: 'none',
  cleared_contents: 'none',
  secret_requests: 'none',
  deposits: 'none',
  webhook_endpoints: {
    select: 'all',
    update: ['failing_since', 'switched_off_at', 'switched_off_for'],
  },
  webhook_deliveries: {
    select: 'all',
    update: ['status', 'answered', 'failure_reason', 'ended_at'],
  },
  operator_actions: 'none',
  operator_sessions: 'none',
  erasures: 'none',
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
    insert: [
      'job_id',
      'user_id',
      'asset_type',
      'url',
      'storage_path',
      'file_size',
      'position',
      'number',
      'checkpoint',
    ],
    delete: true,
  },
  task_executions: {
    select: 'all',
    insert: [
      'kind',
      'subject_id',
      'user_id',
      'turn',
      'endpoint_id',
      'attempt',
      'losses',
      'run_at',
      'dispatched_at',
    ],
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
  work_kinds: { select: ['kind', 'paused_at'], insert: ['kind'] },
  state_transitions: 'none',
  uncounted_transitions: 'none',
  transition_statistics: 'none',
  sweep_runs: 'none',
  installation: { select: ['id', 'created_at'] },
  bucket_adoptions: 'none',
  orphan_objects: 'none',
  idempotency_keys: 'none',
  rate_limits: { select: 'all', insert: 'all', update: ['points', 'expire'] },
  stored_usage: { select: 'all' },
};

type RightsOn<Table extends keyof RoleRights> = Exclude<RoleRights[Table], 'none'>;

/** The reaper and the sweep of the dead letters settle executions as a worker does. */
const ofWorker = {
  pastes: workerRights.pastes as RightsOn<'pastes'>,
  jobs: workerRights.jobs as RightsOn<'jobs'>,
  deliveries: workerRights.webhook_deliveries as RightsOn<'webhook_deliveries'>,
  executions: workerRights.task_executions as RightsOn<'task_executions'>,
};

/** Settles for crashed workers, sweeps, measures. `npm run ops` runs with the janitor's rights. */
const janitorRights: RoleRights = {
  users: { select: 'all', insert: ['name'], update: ['name'] }, // `ops invite`, and `ops erase`
  // `ops uphold --end-tokens`, `ops invite`, and the sweep `erasures`
  api_tokens: {
    select: ['id', 'user_id', 'revoked_at', 'by_invitation'],
    update: ['revoked_at'],
    delete: true,
  },
  // `ops invite`, and the sweeps `erasures` and `tombstones`
  invitations: {
    select: ['id', 'user_id', 'created_at', 'expires_at', 'accepted_at', 'ended_at'],
    insert: ['user_id', 'secret_hash', 'expires_at'],
    update: ['ended_at'],
    delete: true,
  },
  pastes: {
    ...ofWorker.pastes, // `ops retry` of the release before inserts
    update: [
      ...(ofWorker.pastes.update ?? []),
      'deletion_status',
      'deletion_initiated_at',
      'deleted_at',
      ...contentOptionNames,
      // `ops takedown`
      'deletion_requested_at',
      'taken_down_for',
      // `ops reject`
      'held_at',
      'counted', // `rescue-stranded`
      'read_by', // the sweep `erasures`
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
  slug_versions: { select: ['paste_id'] },
  paste_changes: { select: 'all' },
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
  paste_reports: {
    select: 'all', // of a reporter it shows the beginning of the keyed hash, and can't read the key
    update: ['status', 'judged_at', 'reporter'],
    delete: true,
  },
  cleared_contents: { select: 'all', insert: ['content_hash', 'shown_as', 'actor', 'reason'], delete: true },
  // The sweeps `erasures` and `tombstones`. The deposits of a request go with it. The update: to lock a row.
  secret_requests: { select: 'all', update: ['status'], delete: true },
  deposits: { select: ['request_id', 'number', 'short_code', 'created_at'], delete: true },
  // `ops webhooks`, and the sweeps `erasures` and `tombstones`
  webhook_endpoints: {
    select: 'all',
    insert: ['user_id', 'url', 'events'],
    update: [
      'url',
      'generation',
      'rotated_at',
      'failing_since',
      'switched_off_at',
      'switched_off_for',
      'removed_at',
    ],
    delete: true,
  },
  webhook_deliveries: { ...ofWorker.deliveries, delete: true },
  operator_actions: {
    select: 'all',
    insert: ['actor', 'action', 'subject', 'reason'],
    update: ['outcome'],
  },
  jobs: {
    select: [...shownJobColumns, 'expiry_rules'],
    // `ops retry` of a job
    insert: ['user_id', 'job_type', 'title', 'parameters', 'expiry_rules', 'retry_of'],
    update: [...(ofWorker.jobs.update ?? []), 'retried_as'],
    delete: true,
  },
  operator_sessions: { select: 'all', insert: 'all', delete: true },
  erasures: { select: 'all', update: ['status', 'done_at'] },
  assets: { select: 'all' },
  task_executions: {
    ...ofWorker.executions,
    insert: [
      'kind',
      'subject_id',
      'user_id',
      'turn',
      'endpoint_id',
      'attempt',
      'losses',
      'run_at',
      'dispatched_at',
      'rescued_by',
      'rescue_reason',
    ],
    delete: true, // orphans, and those of removed pastes and jobs
  },
  work_kinds: { select: 'all', update: ['paused_at', 'paused_by', 'pause_reason', 'resumed_at'] },
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
    update: [
      'started_at',
      'ended_at',
      'outcome',
      'last_success_at',
      'seconds',
      'counts',
      'refused',
      'janitor',
    ],
  },
  installation: { select: ['id', 'created_at'] },
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
  stored_usage: { select: 'all' },
};

/**
 * What each service may do, and nothing else. `npm run migrate` grants it. No service may insert or update a
 * column that says what a row is or in which state it starts, write the audit trail, or change the schema.
 */
export const rights: Readonly<Record<ServiceRole, RoleRights>> = {
  pasteflow_api: apiRights,
  pasteflow_worker: workerRights,
  pasteflow_janitor: janitorRights,
};
