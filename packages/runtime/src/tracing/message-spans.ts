import { SpanKind } from '@opentelemetry/api';
import { activeSpanContext, failSpan, tracer, traceparentOf } from './spans.ts';

/** The fields of a message that its span needs. */
interface Sendable {
  readonly executionId: string;
  readonly context: { readonly requestId?: string; readonly traceparent?: string };
}

/**
 * For senders of messages (`TraceMessage` in packages/sqs): starts a span when a message is dispatched and
 * ends it when SQS has the message. The message carries the span's context.
 */
export function messageSpans<Message extends Sendable>({
  queueName,
  relation,
}: {
  readonly queueName: string;
  /**
   * `child`: the span is a child of the sender's span. `linked`: each message begins a trace of its own, with
   * a link to the sender's span, because an import sends 10,000 messages.
   */
  readonly relation: 'child' | 'linked';
}) {
  return (message: Message) => {
    const { requestId } = message.context;
    const span = tracer.startSpan(`send ${queueName}`, {
      kind: SpanKind.PRODUCER,
      ...(relation === 'linked' && linkToActiveSpan()),
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
        if (!sent.includes(message.executionId))
          failSpan(span, error ?? new Error('SQS rejected the message.'));
        span.end();
      },
    };
  };
}

function linkToActiveSpan() {
  const active = activeSpanContext();
  return active && { root: true, links: [{ context: active }] };
}
