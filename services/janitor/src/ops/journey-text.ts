import { columns, instant, oneLine } from './columns.ts';
import type { Subject } from './command-line.ts';
import type { Journey } from './read-journey.ts';

/** The transitions, oldest first, and then the attempts. */
export function journeyText({ subject, transitions, executions }: Journey): string {
  const attempts = new Map(executions.map(({ id, attempt }) => [id, attempt]));
  const steps = transitions.map(({ machine, entity, from, to, at, actor, reason }) => [
    instant(at),
    seconds(at, subject.created_at),
    attempts.has(entity) ? `attempt ${attempts.get(entity)}` : machine,
    `${from} → ${to}`,
    actor,
    reason ?? '',
  ]);
  const rows = executions.map((execution) => [
    String(execution.attempt),
    execution.status,
    execution.worker_id ?? '-',
    instant(execution.run_at),
    instant(execution.dispatched_at),
    instant(execution.started_at),
    instant(execution.lease_expires_at),
    instant(execution.finished_at),
    execution.error ?? '',
  ]);
  return [
    `${headline(subject)}\n`,
    columns(['AT', '>AFTER', 'WHAT', 'FROM → TO', 'BY', 'WHY'], steps),
    columns(
      ['>ATTEMPT', 'STATUS', 'WORKER', 'DUE', 'SENT', 'STARTED', 'LEASED UNTIL', 'ENDED', 'ERROR'],
      rows,
    ),
  ].join('\n');
}

function headline(subject: Journey['subject']): string {
  const created = `created ${instant(subject.created_at)}`;
  if (subject.kind === 'job') {
    const { id, job_type, status, progress, error_message } = subject;
    const why = error_message === null ? '' : `: ${oneLine(error_message)}`;
    return `job ${id}, ${oneLine(job_type)}, ${created}: ${status}, ${progress} %${why}`;
  }
  const { id, short_code, status, deletion_status, size_bytes, failure_reason } = subject;
  const why = failure_reason === null ? '' : `: ${oneLine(failure_reason)}`;
  return `paste ${short_code} (${id}), ${size_bytes} bytes, ${created}: ${status}, ${deletion_status}${why}`;
}

function seconds(at: Date, since: Date): string {
  return `${((at.getTime() - since.getTime()) / 1000).toFixed(3)} s`;
}

export function inWords(of: Subject): string {
  return of.kind === 'paste' ? `paste ${of.shortCode}` : `job ${of.id}`;
}
