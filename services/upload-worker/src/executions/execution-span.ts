import type { AttemptOutcome, NextStep, MessageContext } from '@pasteflow/domain';
import { noSpan, type SpanAttributes, type Tracing, type TraceSpan } from '@pasteflow/runtime';

export interface ExecutionSpanOptions {
  readonly kind: 'upload' | 'job';
  /** Of the message that brought it: where the trace comes from. */
  readonly context: MessageContext;
  /** performance.now() before the claim. */
  readonly claimBeganAt: number;
  readonly attributes: SpanAttributes;
}

/**
 * An attempt as a span, from its claim to its settlement, in the trace of whoever sent its message: further attempts, which the same
 * message brings, follow in it. Claims are of many at once, and each is shown in the trace of each.
 */
export function beginExecutionSpan(
  tracing: Tracing,
  { kind, context, claimBeganAt, attributes }: ExecutionSpanOptions,
): TraceSpan {
  if (!tracing.on) return noSpan;
  const span = tracing.start(`process ${kind}`, {
    kind: 'consumer',
    parent: context.traceparent ?? null,
    startedAt: claimBeganAt,
    attributes: {
      'messaging.system': 'aws_sqs',
      'messaging.operation.type': 'process',
      ...(context.requestId !== undefined && { 'pasteflow.request_id': context.requestId }),
      ...attributes,
    },
  });
  span.run(() => statementOfMany(tracing, 'claim', claimBeganAt));
  return span;
}

/** A statement that was run for many executions, as this one's: it began at `beganAt` and has just ended. */
export function statementOfMany(tracing: Tracing, name: 'claim' | 'settle', beganAt: number): void {
  tracing
    .start(name, {
      kind: 'client',
      startedAt: beganAt,
      attributes: { 'db.system.name': 'postgresql' },
    })
    .end();
}

/** What became of the attempt; null when someone else had ended it. */
export function describeEnd(
  span: TraceSpan,
  ended: { readonly outcome: AttemptOutcome; readonly nextStep: NextStep } | null,
): void {
  if (span === noSpan) return;
  if (ended === null) {
    span.fail('settled by someone else');
    return;
  }
  const { outcome, nextStep } = ended;
  span.set({ 'pasteflow.outcome': outcome.kind, 'pasteflow.sequel': nextStep.kind });
  if ('error' in outcome) span.fail(outcome.error);
}
