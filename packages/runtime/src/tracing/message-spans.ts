import { SpanKind } from '@opentelemetry/api';
import { activeSpanContext, failSpan, tracer, traceparentOf } from './spans.ts';

/** The fields of a message that its span needs. */
interface Sendable {
  readonly executionId: string;
  readonly context: { readonly requestId?: string; readonly traceparent?: string };
}

export interface MessageSpansOptions {
  readonly queueName: string;
  /**
   * `following`: in the trace of the sender. `linked`: each message begins its own trace, with a link to the
   * span of the sender: an import makes 10,000 messages.
   */
  readonly traces: 'following' | 'linked';
}

/**
 * For senders of messages (`follow` in packages/sqs): starts a span when a message is dispatched and ends it
 * when SQS has the message. The message carries the span's context.
 */
export function messageSpans<Message extends Sendable>({ queueName, traces }: MessageSpansOptions) {
  return (message: Message) => {
    const { requestId } = message.context;
    const span = tracer.startSpan(`send ${queueName}`, {
      kind: SpanKind.PRODUCER,
      ...(traces === 'linked' && linkToActiveSpan()),
      attributes: {
        'messaging.system': 'aws_sqs',
        'messaging.operation.type': 'send',
        'messaging.destination.name': queueName,
        'pasteflow.execution_id': message.executionId,
        ...(requestId !== undefined && { 'pasteflow.request_id': requestId }),
      },
    });
    const traceparent = traceparentOf(span);
    return {
      message:
        traceparent === undefined ? message : { ...message, context: { ...message.context, traceparent } },
      ended: (sent: readonly string[], error?: unknown): void => {
        if (!sent.includes(message.executionId)) failSpan(span, error ?? new Error('SQS refused it'));
        span.end();
      },
    };
  };
}

function linkToActiveSpan() {
  const active = activeSpanContext();
  return active && { root: true, links: [{ context: active }] };
}
