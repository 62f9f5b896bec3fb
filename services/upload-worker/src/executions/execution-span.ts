import { SpanKind, type Attributes, type Span } from '@opentelemetry/api';
import type { AttemptOutcome, NextStep, MessageContext } from '@pasteflow/domain';
import type { ExecutionKind } from '@pasteflow/postgres';
import { failSpan, remoteParent, runInSpan, tracer } from '@pasteflow/runtime';

/**
 * Starts the span of an attempt, which lasts from its claim to its settlement, in the trace of the message's
 * sender. Further attempts, which the same message brings, are in the same trace. One claim is for many
 * executions and appears in the trace of each. An attempt without a message begins a trace.
 */
export function beginExecutionSpan({
  kind,
  context,
  claimBeganAt,
  attributes,
}: {
  readonly kind: ExecutionKind;
  /** The context of the message, which holds the trace; null: no message asks for this execution. */
  readonly context: MessageContext | null;
  /** performance.now() before the claim. */
  readonly claimBeganAt: number;
  readonly attributes: Attributes;
}): Span {
  const span = tracer.startSpan(
    `process ${kind}`,
    {
      kind: context === null ? SpanKind.INTERNAL : SpanKind.CONSUMER,
      startTime: claimBeganAt,
      attributes: {
        ...(context !== null && { 'messaging.system': 'aws_sqs', 'messaging.operation.type': 'process' }),
        ...(context?.requestId !== undefined && { 'pasteflow.request_id': context.requestId }),
        ...attributes,
      },
    },
    remoteParent(context?.traceparent),
  );
  runInSpan(span, () => recordSharedStatement('claim', claimBeganAt));
  return span;
}

/** Ends the span by the clock of its start, performance.now(). */
export function endExecutionSpan(span: Span): void {
  span.end(performance.now());
}

/**
 * Records a statement that served many executions as a child of the active span: from `beganAt`
 * (performance.now()) to now.
 */
export function recordSharedStatement(name: 'claim' | 'settle', beganAt: number): void {
  const attributes = { 'db.system.name': 'postgresql' };
  tracer.startSpan(name, { kind: SpanKind.CLIENT, startTime: beganAt, attributes }).end(performance.now());
}

/** Records the end of the attempt; null: another process had ended it. */
export function describeEnd(
  span: Span,
  ended: { readonly outcome: AttemptOutcome; readonly nextStep: NextStep } | null,
): void {
  if (!span.isRecording()) return;
  if (ended === null) {
    failSpan(span, 'settled by another process');
    return;
  }
  const { outcome, nextStep } = ended;
  span.setAttributes({ 'pasteflow.outcome': outcome.kind, 'pasteflow.next_step': nextStep.kind });
  if ('error' in outcome) failSpan(span, outcome.error);
}
