import { isRequestCode, isUuid } from '@pasteflow/domain';
import {
  asJson,
  EXIT_FAILED,
  failed,
  formatMillisecond,
  formatTable,
  misused,
  succeeded,
  toOneLine,
} from '@pasteflow/service-kit';
import { codeOrId } from '../actions/subjects.ts';
import {
  readRequestTimeline,
  readSubjectTimeline,
  type RequestTimeline,
  type SubjectTimeline,
} from '../reports/read-timeline.ts';
import type { OwnCommand } from './command.ts';

/** Of a paste by its short code, of a job or a delivery by its id, or of a request for secrets by that in its link. */
export const timeline: OwnCommand<{ readonly of: string }> = {
  name: 'timeline',
  takes: 'CODE',
  help: 'shows what happened to a paste; takes the id of a job, of a delivery of a webhook or of a request for secrets, too',
  read: ([text = '', ...more]) => {
    const of = more.length === 0 ? codeOrId(text) : null;
    return of === null
      ? misused(
          'timeline takes the short code of a paste, or the id of a job, of a delivery of a webhook or of a request for secrets',
        )
      : { of };
  },
  run: async ({ db }, { of, json }) => {
    const request = isRequestCode(of) ? await readRequestTimeline(db, of) : null;
    if (request !== null) return succeeded(json ? asJson(request) : requestText(request));
    const found = await readSubjectTimeline(db, of);
    if (found === null)
      return failed(
        EXIT_FAILED,
        `ops: there is no ${isUuid(of) ? 'job or delivery' : isRequestCode(of) ? 'request' : 'paste'} ${of}\n`,
      );
    return succeeded(json ? asJson(found) : timelineText(found));
  },
};

/** The request, its end, and the receipts of its deposits. */
function requestText({ subject, transitions, deposits }: RequestTimeline): string {
  const { id, user_id, status, taken, places, created_at, expires_at, message } = subject;
  const asks = message === null ? '' : `\nIt asks: ${toOneLine(message)}`;
  return [
    `request ${id} of user ${user_id}, created ${formatMillisecond(created_at)}, expires ${formatMillisecond(expires_at)}: ${status}, ${taken} of ${places} deposited${asks}\n`,
    formatTable(
      ['AT', 'WHAT', 'FROM → TO', 'BY', 'WHY'],
      transitions.map(({ at, machine, from, to, actor, reason }) => [
        formatMillisecond(at),
        machine,
        `${from} → ${to}`,
        actor,
        reason ?? '',
      ]),
    ),
    formatTable(
      ['DEPOSITED', 'RECEIPT'],
      deposits.map(({ created_at: at, receipt }) => [formatMillisecond(at), receipt]),
    ),
  ].join('\n');
}

type Step = Pick<SubjectTimeline['transitions'][number], 'at' | 'actor' | 'reason'>;

/**
 * The transitions, oldest first, each retry after the last transition of the FAILED paste, followed by the
 * attempts.
 */
function timelineText({
  subject,
  transitions,
  executions,
  retries,
  takedown,
  changes,
}: SubjectTimeline): string {
  const attempts = new Map(executions.map(({ id, attempt }) => [id, attempt]));
  const stepOf = ({ at, actor, reason }: Step, what: string, change: string) => [
    formatMillisecond(at),
    secondsAfter(at, subject.created_at),
    what,
    change,
    actor,
    reason ?? '',
  ];
  /**
   * A rescue comes before the first transition of the execution that it inserted, because the trail is in the
   * order of the commits.
   */
  const rescues = new Map(
    executions.flatMap(({ id, attempt, created_at, rescued_by, rescue_reason }) => {
      if (rescued_by === null) return [];
      const rescue = { at: created_at, actor: rescued_by, reason: rescue_reason };
      return [[id, stepOf(rescue, `attempt ${attempt}`, 'rescued')]];
    }),
  );
  const rescueOf = (entity: string) => {
    const rescue = rescues.get(entity);
    rescues.delete(entity);
    return rescue === undefined ? [] : [rescue];
  };
  const lastOf = new Map(transitions.map(({ entity }, n) => [entity, n]));
  const retriesAfter = (n: number) =>
    retries
      .filter(({ from }) => (lastOf.get(from) ?? -1) === n)
      .map((retry) => stepOf(retry, 'retry', `FAILED paste ${retry.from} replaced`));
  const steps = [
    ...retriesAfter(-1), // of pastes whose transitions the audit trail no longer has
    ...transitions.flatMap((transition, n) => {
      const { machine, entity, from, to } = transition;
      const what = attempts.has(entity) ? `attempt ${attempts.get(entity)}` : machine;
      return [...rescueOf(entity), stepOf(transition, what, `${from} → ${to}`), ...retriesAfter(n)];
    }),
  ];
  const rows = executions.map((execution) => [
    String(execution.attempt),
    execution.status,
    execution.worker_id ?? '-',
    formatMillisecond(execution.run_at),
    formatMillisecond(execution.dispatched_at),
    formatMillisecond(execution.started_at),
    formatMillisecond(execution.lease_expires_at),
    formatMillisecond(execution.finished_at),
    execution.error ?? '',
  ]);
  return [
    `${subjectLine(subject)}\n`,
    ...(takedown === null
      ? []
      : [
          `Taken down for ${takedown.class} at ${formatMillisecond(takedown.at)} by ${takedown.actor}: ${toOneLine(takedown.reason)}\n`,
        ]),
    formatTable(['AT', '>AFTER', 'WHAT', 'FROM → TO', 'BY', 'WHY'], [...steps, ...rescues.values()]),
    formatTable(
      ['>ATTEMPT', 'STATUS', 'WORKER', 'DUE', 'SENT', 'STARTED', 'LEASED UNTIL', 'ENDED', 'ERROR'],
      rows,
    ),
    ...(changes.length === 0
      ? []
      : [
          formatTable(
            ['CHANGED', 'FIELD', 'FROM', 'TO', 'BY'],
            changes.map(({ changed_at: at, field, from, to, changed_by: by, actor }) => [
              formatMillisecond(at),
              field,
              from ?? '',
              to ?? '',
              `${by}, ${actor}`,
            ]),
          ),
        ]),
  ].join('\n');
}

function subjectLine(subject: SubjectTimeline['subject']): string {
  const created = `created ${formatMillisecond(subject.created_at)}`;
  if (subject.kind === 'job') {
    const { id, job_type, status, progress, error_message, retry_of, retried_as } = subject;
    const why = error_message === null ? '' : `: ${toOneLine(error_message)}`;
    const others = `${retry_of === null ? '' : `; a retry of job ${retry_of}`}${retried_as === null ? '' : `; retried as job ${retried_as}`}`;
    return `job ${id}, ${toOneLine(job_type)}, ${created}: ${status}, ${progress} %${why}${others}`;
  }
  if (subject.kind === 'delivery') {
    const { id, endpoint_id, type, about, status, answered, failure_reason, retry_of } = subject;
    const how = answered === null ? '' : `, last answered ${answered}`;
    const why = failure_reason === null ? '' : `: ${toOneLine(failure_reason)}`;
    const again = retry_of === null ? '' : `; delivery ${retry_of} sent again`;
    return `delivery ${id} of ${toOneLine(type)} ${toOneLine(about)} to the endpoint ${endpoint_id}, ${created}: ${status}${how}${why}${again}`;
  }
  const { id, short_code, status, deletion_status, size_bytes, failure_reason, deposited_for } = subject;
  const what = deposited_for === null ? '' : `; a deposit for the request ${deposited_for}`;
  const why = failure_reason === null ? '' : `: ${toOneLine(failure_reason)}`;
  return `paste ${short_code} (${id}), ${size_bytes} bytes, ${created}: ${status}, ${deletion_status}${why}${what}`;
}

function secondsAfter(at: Date, since: Date): string {
  return `${((at.getTime() - since.getTime()) / 1000).toFixed(3)} s`;
}
