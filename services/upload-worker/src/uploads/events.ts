import type { NextStep, MessageContext } from '@pasteflow/domain';
import type { ClaimedUpload, UploadOutcome } from '@pasteflow/postgres';
import type { LogFields, Logger, Metrics } from '@pasteflow/runtime';
import { createExecutionEvents, requestIdOf, type ExecutionEvents } from '../executions/events.ts';

export interface UploadEvents extends ExecutionEvents {
  attemptEnded(
    upload: ClaimedUpload,
    context: MessageContext,
    outcome: UploadOutcome,
    nextStep: NextStep,
  ): void;
}

export function createUploadEvents(logger: Logger, metrics: Metrics): UploadEvents {
  const attempts = metrics.counter({
    name: 'upload_attempts_total',
    help: 'Attempts at an upload by how they ended and what followed.',
    labels: ['outcome', 'sequel'],
  });
  const bytes = metrics.counter({ name: 'upload_bytes_total', help: 'Bytes of content brought into S3.' });

  return {
    ...createExecutionEvents('upload', logger, metrics),
    attemptEnded(upload, context, outcome, nextStep) {
      attempts.inc({ outcome: outcome.kind, sequel: nextStep.kind });
      if (outcome.kind === 'succeeded') bytes.inc(upload.sizeBytes);
      const fields = { ...idsOf(upload, context), outcome: outcome.kind, sequel: nextStep.kind };
      if (outcome.kind === 'succeeded' || outcome.kind === 'interrupted')
        logger.info('upload attempt ended', fields);
      else logger.warn('upload attempt failed', { ...fields, reason: outcome.error });
    },
  };
}

export function idsOf(upload: ClaimedUpload, context: MessageContext): LogFields {
  return {
    short_code: upload.shortCode,
    execution_id: upload.executionId,
    attempt: upload.attempt,
    ...requestIdOf(context),
  };
}
