import type { IncomingMessage, ServerResponse } from 'node:http';
import { failSpan, isTracing, type Logger, type Metrics, remoteParent, tracer } from '@pasteflow/runtime';
import { INVALID_SPAN_CONTEXT, type Span, SpanKind, trace } from '@opentelemetry/api';
import { type Problem, severityOf } from '../answers/problem.ts';
import { contextOf, idsOf, isProbe } from '../request/request-context.ts';

/** The events of requests. One function writes the log line and the metric of each. */
export class RequestEvents {
  readonly #logger: Logger;
  /** Every transition of a job is logged, also when many are cancelled at once. */
  readonly #records: Logger;
  readonly #durations;
  readonly #problems;
  readonly #slowDownloads;
  readonly #pastes;
  readonly #pasteBytes;
  readonly #cancelledJobs;
  readonly #revealed;

  constructor(logger: Logger, metrics: Metrics) {
    this.#logger = logger;
    this.#records = logger.child({}, { everyLine: true });
    this.#durations = metrics.histogram({
      name: 'http_request_duration_seconds',
      help: 'Time from the request headers to the end of the answer, by route and status, without the wait for an upload or a job.',
      labels: ['method', 'route', 'status'],
    });
    this.#problems = metrics.counter({
      name: 'http_problems_total',
      help: 'Requests answered with a problem, by route and code. The code distinguishes the 503 of a failure from the 503 of an upload in progress.',
      labels: ['route', 'code'],
    });
    this.#slowDownloads = metrics.counter({
      name: 'http_downloads_too_slow_total',
      help: 'Downloads whose connection was cut because the client read too slowly.',
    });
    this.#pastes = metrics.counter({
      name: 'pastes_created_total',
      help: 'Pastes that this process created, by the form of the request.',
      labels: ['form'],
    });
    this.#pasteBytes = metrics.counter({
      name: 'pastes_created_bytes_total',
      help: 'Bytes of content of the pastes that this process created.',
    });
    this.#revealed = metrics.counter({
      name: 'pastes_revealed_total',
      help: 'Reveals of pastes with burn that this process granted, repeated ones included.',
    });
    this.#cancelledJobs = metrics.counter({
      name: 'jobs_cancelled_total',
      help: 'Jobs that this process ended because their owner cancelled them, by the state before and the terminal state. Operators cancel from the command line, which is not counted here.',
      labels: ['job_type', 'from', 'status'],
    });
  }

  /** The answer was sent, or the client disconnected before it had all of it (`aborted`). */
  ended(req: IncomingMessage, res: ServerResponse): void {
    const context = contextOf(req);
    const now = performance.now();
    const durationMs = now - context.startedAtMs;
    const waitedMs =
      context.waitingSinceMs === undefined ? 0 : (context.waitedUntilMs ?? now) - context.waitingSinceMs;
    const method = req.method ?? '';
    const status = res.statusCode;
    const health = context.route === '/healthz' || context.route === '/readyz';
    this.#logger[health ? 'debug' : 'info']('request', {
      method,
      route: context.route,
      status,
      duration_ms: Math.round(durationMs * 10) / 10,
      bytes: Number(res.getHeader('Content-Length') ?? 0),
      ...idsOf(context),
      ...(context.caller?.kind === 'user' && { user_id: context.caller.userId }),
      ...(context.shortCode !== undefined && { short_code: context.shortCode }),
      ...(context.secretRequest !== undefined && { secret_request: context.secretRequest }),
      ...(context.jobId !== undefined && { job_id: context.jobId }),
      ...(context.sizeBytes !== undefined && { size_bytes: context.sizeBytes }),
      ...(waitedMs > 0 && { waited_ms: Math.round(waitedMs) }),
      ...(context.replayed === true && { replayed: true }),
      ...(context.errorCode !== undefined && { code: context.errorCode }),
      ...(!res.writableFinished && { aborted: true }),
    });
    if (context.errorCode !== undefined)
      this.#problems.inc({ route: context.route, code: context.errorCode });
    const label = METHODS.has(method) ? method : 'other';
    this.#durations.observe({ method: label, route: context.route, status }, (durationMs - waitedMs) / 1000);
  }

  /** A paste was committed. A replayed answer creates none. */
  pasteCreated(form: 'json' | 'shell' | 'page' | 'private-bin' | 'deposit', bytes: number): void {
    this.#pastes.inc({ form });
    this.#pasteBytes.inc(bytes);
  }

  /** A paste was claimed for its one reader. */
  pasteRevealed(req: IncomingMessage): void {
    const context = contextOf(req);
    this.#revealed.inc();
    this.#records.info('paste revealed', { ...idsOf(context), short_code: context.shortCode });
  }

  /** A job was cancelled. A repeated or replayed request cancels none. */
  jobCancelled(req: IncomingMessage, job: { jobType: string; from: string; status: string }): void {
    const { jobType, from, status } = job;
    const context = contextOf(req);
    this.#cancelledJobs.inc({ job_type: jobType, from, status });
    const fields = { ...idsOf(context), job_id: context.jobId, job_type: jobType, from, status };
    this.#records.info('job cancelled', fields);
  }

  /** A request was answered with a problem. */
  failed(req: IncomingMessage, error: unknown, problem: Problem): void {
    const context = contextOf(req);
    context.errorCode = problem.code;
    const severity = severityOf(error, problem);
    if (severity === null) return;
    const fields = {
      ...idsOf(context),
      route: context.route,
      short_code: context.shortCode,
      job_id: context.jobId,
      error,
    };
    this.#logger[severity]('request failed', fields);
  }

  /** The connection was cut because the client read below the minimum rate. */
  downloadTooSlow(req: IncomingMessage): void {
    const context = contextOf(req);
    this.#slowDownloads.inc();
    this.#logger.info('download too slow; connection cut', {
      ...idsOf(context),
      route: context.route,
      short_code: context.shortCode,
    });
  }

  /** An error after the headers were sent: only a cut connection can tell the client. */
  cutOff(req: IncomingMessage, error: unknown): void {
    const context = contextOf(req);
    const { route, shortCode } = context;
    this.#logger.error('answer cut off', { ...idsOf(context), route, short_code: shortCode, error });
  }
}

/** The methods that HTTP clients use. Node's parser knows 34, each of which would be a label. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'DELETE', 'PUT', 'PATCH', 'OPTIONS']);

const NO_SPAN = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);

/** Starts the span of a request, in the trace of the client's `traceparent`. Nobody searches for probes. */
export function beginRequestSpan(req: IncomingMessage): Span {
  if (!isTracing() || isProbe(req)) return NO_SPAN;
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
