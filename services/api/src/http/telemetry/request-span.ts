import type { IncomingMessage, ServerResponse } from 'node:http';
import { noSpan, type Tracing, type TraceSpan } from '@pasteflow/runtime';
import { contextOf } from '../request/request-context.ts';

const METHODS = new Set(['GET', 'HEAD', 'POST', 'DELETE', 'PUT', 'PATCH', 'OPTIONS']);

/** Probes come every few seconds, and nobody looks for them. */
const UNTRACED = /^\/(healthz|readyz)(\?|$)/;

/** A request as a span, which goes on with the trace of the client's `traceparent`. */
export function beginRequestSpan(tracing: Tracing, req: IncomingMessage): TraceSpan {
  if (!tracing.on || UNTRACED.test(req.url ?? '')) return noSpan;
  const { requestId, traceparent } = contextOf(req);
  const method = methodOf(req);
  return tracing.start(method, {
    kind: 'server',
    parent: traceparent ?? null,
    attributes: { 'http.request.method': method, 'pasteflow.request_id': requestId },
  });
}

/** Once the answer is out, and its route and subject are known. Neither path nor query is shown: a query may hold anything. */
export function endRequestSpan(span: TraceSpan, req: IncomingMessage, res: ServerResponse): void {
  if (span === noSpan) return;
  const { route, shortCode, jobId, errorCode } = contextOf(req);
  if (route !== 'none') span.rename(`${methodOf(req)} ${route}`);
  span.set({
    'http.response.status_code': res.statusCode,
    ...(route !== 'none' && { 'http.route': route }),
    ...(shortCode !== undefined && { 'pasteflow.short_code': shortCode }),
    ...(jobId !== undefined && { 'pasteflow.job_id': jobId }),
    ...(errorCode !== undefined && { 'pasteflow.code': errorCode }),
    ...(!res.writableFinished && { 'pasteflow.aborted': true }),
  });
  // That content isn't there yet is an answer as any other.
  if (res.statusCode >= 500 && errorCode !== 'paste_in_progress') span.fail(errorCode ?? res.statusCode);
  span.end();
}

function methodOf({ method = '' }: IncomingMessage): string {
  return METHODS.has(method) ? method : 'HTTP';
}
