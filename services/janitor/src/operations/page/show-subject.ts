import { plain, type ShownSubject } from '@pasteflow/web';
import type { SubjectTimeline } from '../reports/read-timeline.ts';
import { counted } from '../reports/counted.ts';

/**
 * A paste, a job or a delivery of a webhook with its timeline, as the page shows it to operators: with hosts and the full texts of
 * errors.
 */
export function showSubject({ subject, takedown, changes, ...timeline }: SubjectTimeline): ShownSubject {
  const shared = {
    kind: subject.kind,
    created_at: subject.created_at.toISOString(),
    takedown:
      takedown === null
        ? null
        : `${timeOf(takedown.at)}, ${takedown.class}, ${takedown.actor}: ${takedown.reason}`,
    timeline: showTimeline(timeline),
  };
  if (subject.kind === 'job') {
    const { id, job_type, status, progress, error_message, completed_at } = subject;
    const facts = [
      ['Type', job_type],
      ['Status', plain(status)],
      ['Progress', `${progress} %`],
      ['Created', subject.created_at],
      ...(completed_at === null ? [] : [['Ended', completed_at] as const]),
      ...(error_message === null ? [] : [['Error', error_message] as const]),
      ...(subject.retry_of === null ? [] : [['Retry of job', subject.retry_of] as const]),
      ...(subject.retried_as === null ? [] : [['Retried as job', subject.retried_as] as const]),
    ] as const;
    return {
      ...shared,
      name: id,
      facts,
      user_id: null,
      request: null,
      content_hash: null,
      canRetry: subject.can_retry,
      canCancel: completed_at === null,
    };
  }
  if (subject.kind === 'delivery') {
    const { id, endpoint_id, type, about, status, answered, failure_reason, retry_of } = subject;
    const facts = [
      ['Endpoint', endpoint_id],
      ['Event', type],
      ['About', about],
      ['Happened', subject.happened_at],
      ['Status', plain(status)],
      ...(answered === null ? [] : [['Last answered', String(answered)] as const]),
      ...(failure_reason === null ? [] : [['Failure', failure_reason] as const]),
      ...(retry_of === null ? [] : [['Delivery sent again', retry_of] as const]),
    ] as const;
    const none = { user_id: null, request: null, content_hash: null, canRetry: false, canCancel: false };
    return { ...shared, ...none, name: id, facts };
  }
  const { id, short_code, status, deletion_status, size_bytes, failure_reason, content_hash } = subject;
  const { deletion_requested_at: deletionRequestedAt } = subject;
  const facts = [
    ['Id', id],
    ['Upload', plain(status)],
    ['Deletion', plain(deletion_status)],
    ['Size', counted(size_bytes, 'byte')],
    ...(subject.file_count === null ? [] : [['Files', String(subject.file_count)] as const]),
    ['SHA-256', content_hash],
    ['Created', subject.created_at],
    ['Expires', subject.expires_at ?? 'never'],
    ...(subject.deposited_for === null ? [] : [['Deposit for request', subject.deposited_for] as const]),
    ...(deletionRequestedAt === null ? [] : [['Deletion requested', deletionRequestedAt] as const]),
    ...(failure_reason === null ? [] : [['Failure', failure_reason] as const]),
    ...changes.map(({ field, changed_at: at }) => [`Changed: ${field}`, at] as const),
  ] as const;
  const canRetry = status === 'FAILED' && !subject.gone;
  return {
    ...shared,
    name: short_code,
    facts,
    user_id: subject.user_id,
    request: subject.deposited_for,
    content_hash,
    canRetry,
    canCancel: false,
  };
}

/** As the page writes its other times: `2026-11-21 12:00:00 UTC`. */
function timeOf(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

function showTimeline({
  transitions,
  executions,
  retries,
}: Pick<SubjectTimeline, 'transitions' | 'executions' | 'retries'>): ShownSubject['timeline'] {
  return {
    transitions: transitions.map(({ at, ...rest }) => ({
      ...rest,
      at: at.toISOString(),
      reason_class: null,
    })),
    executions: executions.map(
      ({ id, attempt, status, run_at, created_at, started_at, finished_at, error }) => ({
        id,
        attempt,
        status,
        run_at: run_at.toISOString(),
        created_at: created_at.toISOString(),
        started_at: started_at?.toISOString() ?? null,
        finished_at: finished_at?.toISOString() ?? null,
        error_class: null,
        error,
      }),
    ),
    retries: retries.map(({ at, actor, reason }) => ({
      at: at.toISOString(),
      actor,
      reason_class: 'retried',
      reason,
    })),
  };
}
