import { context, SpanKind, trace } from '@opentelemetry/api';
import { failSpan, tracer } from './spans.ts';
import { summaryOf } from './summary.ts';

/**
 * The part that spans need of kysely's log event, which kysely emits after each statement in the context of
 * the caller.
 */
export interface EndedStatement {
  readonly query: { readonly sql: string };
  readonly queryDurationMillis: number;
  readonly error?: unknown;
}

/** Records a statement that ran in a span as a child of that span. */
export function recordStatement({ query, queryDurationMillis, error }: EndedStatement): void {
  if (trace.getSpan(context.active())?.isRecording() !== true) return;
  const summary = summaryOf(query.sql);
  const endedAt = performance.now();
  const span = tracer.startSpan(summary, {
    kind: SpanKind.CLIENT,
    attributes: { 'db.system.name': 'postgresql', 'db.query.summary': summary },
    startTime: endedAt - queryDurationMillis,
  });
  if (error !== undefined) failSpan(span, error);
  span.end(endedAt);
}
