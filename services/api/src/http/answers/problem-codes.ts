import type { ErrorCode } from '@pasteflow/domain';

/**
 * The closed list of the codes of problem documents, with those of the domain, and the one place where a code
 * becomes an HTTP status.
 */
const problems = {
  invalid_transition: [409, 'Conflict with the current state'],
  short_code_taken: [503, 'No free short code found'],
  slug_taken: [409, 'Slug taken'],
  slug_limit_reached: [409, 'Too many slugs'],
  slug_moved: [409, 'Slug names another paste'],
  slug_move_refused: [409, 'Slug not moved'],
  paste_not_found: [404, 'Paste not found'],
  paste_gone: [410, 'Paste expired or deleted'],
  paste_taken_down: [451, 'Paste taken down'],
  paste_held: [451, 'Paste held'],
  file_not_found: [404, 'No such file in the paste'],
  not_several_files: [409, 'Paste has no files'],
  paste_in_progress: [503, 'Paste not stored yet'],
  parent_not_found: [422, 'Parent not found'],
  superseded: [409, 'Paste has a newer version'],
  no_diff: [404, 'No diff of this paste'],
  diff_unavailable: [409, 'Pastes are not compared'],
  report_settled: [409, 'Reports are settled'],
  request_not_found: [404, 'Request not found'],
  request_closed: [410, 'Request takes no more deposits'],
  request_used_up: [409, 'Request has all its deposits'],
  request_ended: [409, 'Request has ended'],
  request_limit_reached: [409, 'Too many open requests'],
  reveal_required: [403, 'Paste is deleted when it is read'],
  nothing_to_reveal: [409, 'Paste is not deleted when it is read'],
  job_not_found: [404, 'Job not found'],
  job_forbidden: [403, "Another user's job"],
  job_ended: [409, 'Job has ended'],
  job_not_retryable: [409, 'Job is not retried'],
  execution_taken: [500, 'Internal error'],
  idempotency_key_reused: [422, 'Idempotency key reused'],
  idempotency_key_in_use: [409, 'Idempotency key in use'],
  rate_limited: [429, 'Too many requests'],
  quota_exceeded: [429, 'Quota used up'],
  storage_full: [507, 'Storage full'],
  content_empty: [422, 'Content is empty'],
  content_too_large: [413, 'Content too large'],
  content_blocked: [403, 'Content blocked'],
  malformed_request: [400, 'Malformed request'],
  validation_failed: [422, 'Validation failed'],
  unsupported_media_type: [415, 'Unsupported media type'],
  unsupported_encoding: [415, 'Unsupported content encoding'],
  request_timeout: [408, 'Request timeout'],
  request_incomplete: [400, 'Request incomplete'],
  request_headers_too_large: [431, 'Request headers too large'],
  unauthorized: [401, 'Not authorized'],
  insufficient_scope: [403, 'Not allowed with this token'],
  invitation_not_found: [404, 'Invitation not found'],
  invitation_ended: [410, 'Invitation has ended'],
  token_not_found: [404, 'Token not found'],
  token_limit_reached: [409, 'Too many tokens'],
  webhook_not_found: [404, 'Webhook not found'],
  webhook_limit_reached: [429, 'Too many webhooks'],
  webhooks_off: [403, 'No webhooks here'],
  webhook_switched_off: [409, 'Webhook switched off by an operator'],
  webhook_off: [409, 'Webhook is switched off'],
  delivery_not_found: [404, 'Delivery not found'],
  delivery_waiting: [409, 'Event waits to be sent'],
  cross_site_request: [403, 'Sent from another site'],
  user_changed: [409, 'Somebody else is signed in'],
  route_not_found: [404, 'No such route'],
  method_not_allowed: [405, 'Method not allowed'],
  range_not_satisfiable: [416, 'Range not satisfiable'],
  precondition_failed: [412, 'Precondition failed'],
  stream_unavailable: [503, 'Too many waiting clients'],
  overloaded: [503, 'Too many bytes in flight'],
  dependency_unavailable: [503, 'Temporarily unavailable'],
  malformed_message: [500, 'Internal error'],
  internal: [500, 'Internal error'],
} as const satisfies Readonly<Record<string, readonly [status: number, title: string]>> &
  Record<ErrorCode, unknown>;

export type ProblemCode = keyof typeof problems;

export const problemCodes = Object.keys(problems) as ProblemCode[];

export function statusOf(code: ProblemCode): number {
  return problems[code][0];
}

export function titleOf(code: ProblemCode): string {
  return problems[code][1];
}
