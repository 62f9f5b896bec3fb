import type { AttemptSequel, MessageContext } from '@pasteflow/domain';
import type { ClaimedUpload, UploadOutcome } from '@pasteflow/postgres';
import type { Logger, Metrics } from '@pasteflow/runtime';

/** What happens in this service, each with its log line and its metric in one place. Ids go into the log only. */
export interface UploadEvents {
  attemptEnded(
    upload: ClaimedUpload,
    context: MessageContext,
    outcome: UploadOutcome,
    sequel: AttemptSequel,
  ): void;
  /** The outcome of an attempt didn't count: the execution had been ended by someone else. */
  settlementLost(upload: ClaimedUpload, context: MessageContext): void;
  leaseLost(executionId: string): void;
  malformedMessage(error: unknown, messageId: string | undefined): void;
  dependencyFailed(what: string, error: unknown): void;
}

export function createUploadEvents(logger: Logger, metrics: Metrics): UploadEvents {
  const attempts = metrics.counter({
    name: 'upload_attempts_total',
    help: 'Attempts at an upload by how they ended and what followed.',
    labels: ['outcome', 'sequel'],
  });
  const bytes = metrics.counter({ name: 'upload_bytes_total', help: 'Bytes of content brought into S3.' });
  const lost = metrics.counter({
    name: 'upload_settlements_lost_total',
    help: 'Outcomes that did not count, because the execution had been ended by someone else.',
  });
  const leases = metrics.counter({
    name: 'upload_leases_lost_total',
    help: 'Executions taken from this worker while it ran them.',
  });
  const malformed = metrics.counter({
    name: 'upload_malformed_messages_total',
    help: 'Messages that no worker can read.',
  });

  return {
    attemptEnded(upload, context, outcome, sequel) {
      attempts.inc({ outcome: outcome.kind, sequel: sequel.kind });
      if (outcome.kind === 'succeeded') bytes.inc(upload.sizeBytes);
      const fields = { ...idsOf(upload, context), outcome: outcome.kind, sequel: sequel.kind };
      if (outcome.kind === 'succeeded' || outcome.kind === 'interrupted')
        logger.info('upload attempt ended', fields);
      else logger.warn('upload attempt failed', { ...fields, reason: outcome.error });
    },
    settlementLost(upload, context) {
      lost.inc();
      logger.warn('upload settled by someone else; this attempt changes nothing', idsOf(upload, context));
    },
    leaseLost(executionId) {
      leases.inc();
      logger.warn('lease lost; the attempt is dropped', { execution_id: executionId });
    },
    malformedMessage(error, messageId) {
      malformed.inc();
      logger.error('a message cannot be read; it goes to the dead-letter queue', {
        message_id: messageId,
        error,
      });
    },
    dependencyFailed(what, error) {
      logger.warn(`${what} failed; it will be tried again`, { error });
    },
  };
}

function idsOf(upload: ClaimedUpload, context: MessageContext) {
  return {
    short_code: upload.shortCode,
    execution_id: upload.executionId,
    attempt: upload.attempt,
    ...(context.requestId !== undefined && { request_id: context.requestId }),
  };
}
