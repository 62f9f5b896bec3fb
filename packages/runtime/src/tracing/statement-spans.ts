import { context, SpanKind, trace } from '@opentelemetry/api';
import { failSpan, tracer } from './spans.ts';

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

/** Summaries by statement. There are about a hundred statements of a few hundred characters each. */
const known = new Map<string, string>();
const MAX_KNOWN = 1000;

/**
 * The first table that a statement changes, or otherwise reads, e.g. `INSERT pastes`. Traces do not contain
 * the text of a statement, which is long.
 */
export function summaryOf(sql: string): string {
  const found = known.get(sql);
  if (found !== undefined) return found;
  const summary = summarise(sql);
  if (known.size < MAX_KNOWN) known.set(sql, summary);
  return summary;
}

function summarise(sql: string): string {
  const changed = /\b(insert\s+into|update|delete\s+from)\s+"?([a-z_]+)"?\s+(?!skip\b)/i.exec(
    sql.replaceAll(/\bfor\s+(no\s+key\s+)?update\b/gi, ''),
  );
  if (changed !== null) return `${changed[1]?.split(/\s/)[0]?.toUpperCase()} ${changed[2]}`;
  const table = /\bfrom\s+"?([a-z_]+)"?/i.exec(sql)?.[1];
  const verb = /^\s*([a-z]+)/i.exec(sql)?.[1]?.toUpperCase() ?? 'SQL';
  return table === undefined ? verb : `SELECT ${table}`;
}
