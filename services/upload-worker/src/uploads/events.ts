import { type AttemptEnd, uploadAttemptEvents, uploadFields } from '@pasteflow/service-kit';
import type { MessageContext, PasteUploadState } from '@pasteflow/domain';
import type { ClaimedUpload, UploadOutcome } from '@pasteflow/postgres';
import type { LogFields, Logger, Metrics } from '@pasteflow/runtime';
import { createExecutionEvents, requestIdOf, type ExecutionEvents } from '../executions/events.ts';

export interface UploadEvents extends ExecutionEvents {
  attemptStarted(upload: ClaimedUpload, context: MessageContext): void;
  attemptEnded(upload: ClaimedUpload, context: MessageContext, end: UploadAttemptEnd): void;
}

interface UploadAttemptEnd extends AttemptEnd<PasteUploadState> {
  readonly outcome: UploadOutcome;
}

export function createUploadEvents(logger: Logger, metrics: Metrics): UploadEvents {
  const attempts = uploadAttemptEvents(logger, metrics);
  const bytes = metrics.counter({ name: 'upload_bytes_total', help: 'Bytes of content stored in S3.' });
  const storedBytes = metrics.counter({
    name: 'upload_stored_bytes_total',
    help: 'Bytes of the objects in which content was stored, compressed where it pays.',
  });

  return {
    ...createExecutionEvents('upload', logger, metrics),
    attemptStarted(upload, context) {
      attempts.started(upload, requestIdOf(context));
    },
    attemptEnded(upload, context, end) {
      attempts.ended(upload, end, requestIdOf(context));
      if (end.outcome.kind !== 'succeeded') return;
      bytes.inc(upload.sizeBytes);
      storedBytes.inc(end.outcome.storedBytes ?? upload.sizeBytes);
    },
  };
}

/** The fields on each log line about an attempt. */
export function idsOf(upload: ClaimedUpload, context: MessageContext): LogFields {
  return { ...uploadFields(upload), ...requestIdOf(context) };
}
