import {
  isTerminal,
  job,
  pasteUpload,
  webhookDelivery,
  type AttemptOutcome,
  type JobState,
  type NextStep,
  type PasteUploadState,
  type WebhookDeliveryState,
} from '@pasteflow/domain';
import type { ExecutionKind } from '@pasteflow/postgres';
import type { LogFields, Logger, Metrics } from '@pasteflow/runtime';

export interface UploadAttempt {
  readonly shortCode: string;
  readonly executionId: string;
  readonly attempt: number;
}

export interface JobAttempt {
  readonly jobId: string;
  readonly jobType: string;
  readonly executionId: string;
  readonly attempt: number;
}

/** Without the URL of the endpoint, which is a secret. */
export interface DeliveryAttempt {
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly executionId: string;
  readonly attempt: number;
}

/** How an attempt ended, what follows, and the state in which the settlement leaves the work. */
export interface AttemptEnd<State extends string> {
  readonly outcome: AttemptOutcome;
  readonly nextStep: NextStep;
  readonly status: State;
  /** How long the attempt took, in seconds, if its process measured it. */
  readonly seconds?: number;
}

/**
 * The log lines and the metrics of attempts. Each event writes both in one function, with the same names in
 * each service that starts or ends attempts. Ids are written to the log only; further log fields come from
 * the caller.
 */
export interface AttemptEvents<Attempt, State extends string> {
  started(attempt: Attempt, fields?: LogFields): void;
  /**
   * The settlement took effect. If no attempt follows, the end of the upload, the job or the delivery is counted
   * and logged too.
   */
  ended(attempt: Attempt, end: AttemptEnd<State>, fields?: LogFields): void;
}

export function uploadAttemptEvents(
  logger: Logger,
  metrics: Metrics,
): AttemptEvents<UploadAttempt, PasteUploadState> {
  return createAttemptEvents<UploadAttempt, PasteUploadState, never>(logger, metrics, {
    kind: 'upload',
    work: ['upload', 'uploads'],
    labels: [],
    labelsOf: () => ({}),
    fieldsOf: uploadFields,
    openState: 'IN_PROGRESS',
    goodState: 'PROCESSED',
    isEnded: (status) => isTerminal(pasteUpload, status),
    detail: 'debug', // at info, each upload has one line: the end of its attempt
  });
}

export function jobAttemptEvents(logger: Logger, metrics: Metrics): AttemptEvents<JobAttempt, JobState> {
  // J9: every transition of a job is logged, also when many jobs fail at once.
  const records = logger.child({}, { everyLine: true });
  return createAttemptEvents<JobAttempt, JobState, 'job_type'>(records, metrics, {
    kind: 'job',
    work: ['job', 'jobs'],
    labels: ['job_type'],
    labelsOf: ({ jobType }) => ({ job_type: jobType }),
    fieldsOf: jobFields,
    openState: 'processing',
    goodState: 'completed',
    isEnded: (status) => isTerminal(job, status),
    detail: 'info', // J9: every transition of a job is logged
  });
}

export function deliveryAttemptEvents(
  logger: Logger,
  metrics: Metrics,
): AttemptEvents<DeliveryAttempt, WebhookDeliveryState> {
  return createAttemptEvents<DeliveryAttempt, WebhookDeliveryState, never>(logger, metrics, {
    kind: 'webhook',
    work: ['webhook delivery', 'webhook_deliveries'],
    labels: [],
    labelsOf: () => ({}),
    fieldsOf: deliveryFields,
    openState: 'WAITING',
    goodState: 'DELIVERED',
    isEnded: (status) => isTerminal(webhookDelivery, status),
    detail: 'debug',
  });
}

/** The fields on each log line about an attempt at an upload. */
export function uploadFields({ shortCode, executionId, attempt }: UploadAttempt): LogFields {
  return { short_code: shortCode, execution_id: executionId, attempt };
}

/** The fields on each log line about an attempt at a job. */
export function jobFields({ jobId, jobType, executionId, attempt }: JobAttempt): LogFields {
  return { job_id: jobId, job_type: jobType, execution_id: executionId, attempt };
}

/** The fields on each log line about an attempt at a delivery of a webhook. */
export function deliveryFields({ deliveryId, endpointId, executionId, attempt }: DeliveryAttempt): LogFields {
  return { delivery_id: deliveryId, endpoint_id: endpointId, execution_id: executionId, attempt };
}

interface Kind<Attempt, State extends string, Label extends string> {
  readonly kind: ExecutionKind;
  /** What ends: in log lines, and in the name of the metric. */
  readonly work: readonly [one: string, many: string];
  readonly labels: readonly Label[];
  readonly labelsOf: (attempt: Attempt) => Record<Label, string>;
  readonly fieldsOf: (attempt: Attempt) => LogFields;
  /** Its state while an attempt runs. */
  readonly openState: State;
  readonly goodState: State;
  readonly isEnded: (status: State) => boolean;
  /** The log level of a started attempt and of a good end. */
  readonly detail: 'info' | 'debug';
}

function createAttemptEvents<Attempt, State extends string, Label extends string>(
  logger: Logger,
  metrics: Metrics,
  {
    kind,
    work: [one, many],
    labels,
    labelsOf,
    fieldsOf,
    openState,
    goodState,
    isEnded,
    detail,
  }: Kind<Attempt, State, Label>,
): AttemptEvents<Attempt, State> {
  const starts = metrics.counter<string>({
    name: `${kind}_attempts_started_total`,
    help: `Attempts at ${kind}s that this process started.`,
    labels,
  });
  const attempts = metrics.counter<string>({
    name: `${kind}_attempts_total`,
    help: `Attempts at ${kind}s that this process ended, by outcome and next step.`,
    labels: [...labels, 'outcome', 'next_step'],
  });
  const ends = metrics.counter<string>({
    name: `${many}_ended_total`,
    help: `The ${many.replace('_', ' ')} that this process ended, by terminal state.`,
    labels: [...labels, 'status'],
  });
  return {
    started(attempt, fields) {
      starts.inc(labelsOf(attempt));
      logger[detail](`${kind} attempt started`, { ...fieldsOf(attempt), ...fields, status: openState });
    },
    ended(attempt, { outcome, nextStep, status, seconds }, fields) {
      const base = { ...fieldsOf(attempt), ...fields };
      attempts.inc({ ...labelsOf(attempt), outcome: outcome.kind, next_step: nextStep.kind });
      const line = {
        ...base,
        outcome: outcome.kind,
        next_step: nextStep.kind,
        ...(seconds !== undefined && { seconds }),
      };
      if ('error' in outcome)
        logger.warn(`${kind} attempt failed`, {
          ...line,
          reason: outcome.error,
          ...('cause' in outcome && outcome.cause !== undefined && { error: outcome.cause }),
        });
      else logger.info(`${kind} attempt ended`, line);
      if (!isEnded(status)) return;
      ends.inc({ ...labelsOf(attempt), status });
      logger[status === goodState ? detail : 'warn'](`${one} ended`, { ...base, status });
    },
  };
}
