import type { MessageContext } from '@pasteflow/domain';
import { traceIdOf, type LogFields, type Logger, type Metrics } from '@pasteflow/runtime';

/**
 * The events of executions of either kind. Each event writes its log line and its metric in one place. Ids
 * are written to the log only.
 */
export interface ExecutionEvents {
  /** The outcome of an attempt did not count because another process had ended the execution. */
  settlementLost(ids: LogFields): void;
  leaseLost(ids: LogFields): void;
  malformedMessage(error: unknown, messageId: string | undefined): void;
  dependencyFailed(what: string, error: unknown): void;
}

export function createExecutionEvents(
  kind: 'upload' | 'job',
  logger: Logger,
  metrics: Metrics,
): ExecutionEvents {
  const lost = metrics.counter({
    name: `${kind}_settlements_lost_total`,
    help: 'Outcomes that did not count because another process had ended the execution.',
  });
  const leases = metrics.counter({
    name: `${kind}_leases_lost_total`,
    help: 'Executions whose lease was lost while this worker ran them.',
  });
  const malformed = metrics.counter({
    name: `${kind}_malformed_messages_total`,
    help: 'Malformed messages, which were moved to the dead-letter queue.',
  });

  return {
    settlementLost(ids) {
      lost.inc();
      logger.warn(`${kind} already settled by another process; outcome ignored`, ids);
    },
    leaseLost(ids) {
      leases.inc();
      logger.warn('lease lost; attempt dropped', ids);
    },
    malformedMessage(error, messageId) {
      malformed.inc();
      logger.error('malformed message; moving to the dead-letter queue', {
        message_id: messageId,
        error,
      });
    },
    dependencyFailed(what, error) {
      dependencyFailed(logger, what, error);
    },
  };
}

export function dependencyFailed(logger: Logger, what: string, error: unknown): void {
  logger.warn(`${what} failed; will retry`, { error });
}

/** The request that caused an attempt, and its trace, as log fields. */
export function requestIdOf({ requestId, traceparent }: MessageContext): LogFields {
  return { ...(requestId !== undefined && { request_id: requestId }), ...traceIdOf(traceparent) };
}
