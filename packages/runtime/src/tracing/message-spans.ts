import type { Tracing } from './tracing.ts';

/** What a message's span has to know of it. */
interface Sendable {
  readonly executionId: string;
  readonly context: { readonly requestId?: string; readonly traceparent?: string };
}

export interface MessageSpansOptions {
  readonly queueName: string;
  /** `following`: in the trace of what sends them. `linked`: each in one of its own, which names that span: an import makes 10,000. */
  readonly traces: 'following' | 'linked';
}

/**
 * For senders of messages (`follow` in packages/sqs): a span from the moment a message is handed over until SQS has it, whose context the
 * message takes along. Undefined while tracing is off.
 */
export function messageSpans<Message extends Sendable>(
  tracing: Tracing,
  { queueName, traces }: MessageSpansOptions,
) {
  if (!tracing.on) return undefined;
  return (message: Message) => {
    const current = traces === 'linked' ? tracing.current() : undefined;
    const { requestId } = message.context;
    const span = tracing.start(`send ${queueName}`, {
      kind: 'producer',
      ...(current !== undefined && { parent: null, links: [current] }),
      attributes: {
        'messaging.system': 'aws_sqs',
        'messaging.operation.type': 'send',
        'messaging.destination.name': queueName,
        'pasteflow.execution_id': message.executionId,
        ...(requestId !== undefined && { 'pasteflow.request_id': requestId }),
      },
    });
    const { traceparent } = span;
    return {
      message: {
        ...message,
        context: { ...message.context, ...(traceparent !== undefined && { traceparent }) },
      },
      ended: (sent: readonly string[], error?: unknown): void => {
        if (!sent.includes(message.executionId)) span.fail(error ?? new Error('SQS refused it'));
        span.end();
      },
    };
  };
}
