import { shownJobColumns } from '../schema/jobs.ts';
import { insertedPasteColumns } from '../schema/pastes.ts';
import type { RoleRights } from './role-rights.ts';

/** Creates pastes, jobs, users and tokens, and reads. The content of pastes is written and never read. */
export const apiRights: RoleRights = {
  users: { select: 'all', insert: ['name'], update: ['name', 'shown_name'] },
  // `npm run token` runs with the api's rights.
  api_tokens: {
    select: 'all',
    insert: [
      'user_id',
      'name',
      'token_hash',
      'expires_at',
      'is_session',
      'signed_in_by',
      'by_invitation',
      'scope',
      'made_by',
    ],
    update: ['last_used_at', 'revoked_at'],
    delete: true, // sessions and tokens that have ended
  },
  invitations: { select: 'all', update: ['accepted_at'] },
  pastes: {
    select: 'all',
    insert: insertedPasteColumns,
    update: ['deletion_requested_at'],
  },
  paste_payloads: {
    select: ['paste_id', 'user_id', 'created_at'],
    insert: ['paste_id', 'content', 'user_id', 'created_at'],
  },
  failed_payloads: 'none',
  paste_retries: { select: 'all' },
  slug_versions: { select: 'all' },
  paste_changes: 'none',
  takedowns: 'none',
  content_blocks: { select: ['content_hash', 'unblocked_at'] },
  paste_reports: 'none',
  cleared_contents: 'none',
  secret_requests: { select: 'all', insert: ['code', 'user_id', 'message', 'places', 'expires_at'] },
  deposits: { select: 'all', insert: ['request_id', 'number', 'short_code', 'wrapped_key'] },
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
  },
  // To send an event again. What happens is told by triggers.
  webhook_deliveries: {
    select: 'all',
    insert: ['endpoint_id', 'user_id', 'event_id', 'type', 'about', 'occurrence', 'happened_at', 'retry_of'],
  },
  operator_actions: 'none',
  jobs: {
    select: [...shownJobColumns, 'expiry_rules'],
    insert: [
      'user_id',
      'job_type',
      'title',
      'parameters',
      'payload',
      'had_content',
      'expiry_rules',
      'retry_of',
    ],
    update: ['retried_as'],
  },
  operator_sessions: 'none',
  erasures: 'none',
  assets: { select: 'all' },
  task_executions: {
    select: 'all',
    insert: ['kind', 'subject_id', 'attempt', 'user_id', 'turn', 'endpoint_id'],
    update: ['dispatched_at'],
  },
  work_kinds: { select: ['kind', 'paused_at'] },
  state_transitions: { select: 'all' },
  uncounted_transitions: 'none',
  transition_statistics: 'none',
  sweep_runs: 'none',
  installation: 'none',
  bucket_adoptions: 'none',
  orphan_objects: 'none',
  idempotency_keys: {
    select: 'all',
    insert: ['caller', 'key_hash', 'fingerprint', 'claim_id', 'claimed_until'],
    update: ['fingerprint', 'claim_id', 'claimed_until', 'answer', 'created_at'],
    delete: true,
  },
  rate_limits: { select: 'all', insert: 'all', update: ['points', 'expire'], delete: true },
  stored_usage: { select: 'all' },
};
