import type { IncomingMessage, ServerResponse } from 'node:http';
import { INVALID_SPAN_CONTEXT, SpanKind, trace, type Span } from '@opentelemetry/api';
import { failSpan, remoteParent, tracer } from '@pasteflow/runtime';
import { contextOf, isProbe } from '../request/request-context.ts';

/** The methods that HTTP clients use. Node's parser knows 34, each of which would be a label. */
export const METHODS = new Set(['GET', 'HEAD', 'POST', 'DELETE', 'PUT', 'PATCH', 'OPTIONS']);

/** Starts the span of a request, in the trace of the client's `traceparent`. Nobody searches for probes. */
export function beginRequestSpan(req: IncomingMessage): Span {
  if (isProbe(req)) return trace.wrapSpanContext(INVALID_SPAN_CONTEXT);
  const { requestId, traceparent } = contextOf(req);
  const method = methodOf(req);
  return tracer.startSpan(
    method,
    {
      kind: SpanKind.SERVER,
      attributes: { 'http.request.method': method, 'pasteflow.request_id': requestId },
    },
    remoteParent(traceparent),
  );
}

/**
 * Ends the span after the response, when route and subject are known. Path and query are left out: a query
 * may hold anything.
 */
export function endRequestSpan(span: Span, req: IncomingMessage, res: ServerResponse): void {
  if (!span.isRecording()) return;
  const { route, shortCode, jobId, errorCode } = contextOf(req);
  if (route !== 'none') span.updateName(`${methodOf(req)} ${route}`);
  span.setAttributes({
    'http.response.status_code': res.statusCode,
    ...(route !== 'none' && { 'http.route': route }),
    ...(shortCode !== undefined && { 'pasteflow.short_code': shortCode }),
    ...(jobId !== undefined && { 'pasteflow.job_id': jobId }),
    ...(errorCode !== undefined && { 'pasteflow.code': errorCode }),
    ...(!res.writableFinished && { 'pasteflow.aborted': true }),
  });
  // A paste in progress is an ordinary answer, not a failure.
  if (res.statusCode >= 500 && errorCode !== 'paste_in_progress') failSpan(span, errorCode ?? res.statusCode);
  span.end();
}

function methodOf({ method = '' }: IncomingMessage): string {
  return METHODS.has(method) ? method : 'HTTP';
}
