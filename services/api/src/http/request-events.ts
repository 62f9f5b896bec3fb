import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger, Metrics } from '@pasteflow/runtime';
import { severityOf, type Problem } from './problem.ts';
import { contextOf } from './request-context.ts';

function durationsIn(metrics: Metrics) {
  return metrics.histogram({
    name: 'http_request_duration_seconds',
    help: 'From the request headers to the end of the answer, by route and status.',
    labels: ['method', 'route', 'status'],
  });
}

/** What there is to tell of requests: each event's log line and metric in one function. */
export class RequestEvents {
  readonly #logger: Logger;
  readonly #durations: ReturnType<typeof durationsIn>;

  constructor(logger: Logger, metrics: Metrics) {
    this.#logger = logger;
    this.#durations = durationsIn(metrics);
  }

  /** The answer is out, or the client went away before it had it all (`aborted`). */
  ended(req: IncomingMessage, res: ServerResponse): void {
    const context = contextOf(req);
    const durationMs = performance.now() - context.startedAtMs;
    const method = req.method ?? '';
    const status = res.statusCode;
    const health = context.route === '/healthz' || context.route === '/readyz';
    this.#logger[health ? 'debug' : 'info']('request', {
      method,
      route: context.route,
      status,
      duration_ms: Math.round(durationMs * 10) / 10,
      bytes: Number(res.getHeader('Content-Length') ?? 0),
      request_id: context.requestId,
      ...(context.caller?.kind === 'user' && { user_id: context.caller.userId }),
      ...(context.shortCode !== undefined && { short_code: context.shortCode }),
      ...(context.jobId !== undefined && { job_id: context.jobId }),
      ...(context.sizeBytes !== undefined && { size_bytes: context.sizeBytes }),
      ...(context.replayed === true && { replayed: true }),
      ...(context.errorCode !== undefined && { code: context.errorCode }),
      ...(!res.writableFinished && { aborted: true }),
    });
    this.#durations.observe({ method, route: context.route, status }, durationMs / 1000);
  }

  /** A request is answered with a problem. */
  failed(req: IncomingMessage, error: unknown, problem: Problem): void {
    const context = contextOf(req);
    context.errorCode = problem.code;
    const severity = severityOf(error, problem);
    if (severity === null) return;
    const fields = {
      request_id: context.requestId,
      route: context.route,
      short_code: context.shortCode,
      job_id: context.jobId,
      error,
    };
    this.#logger[severity]('request failed', fields);
  }

  /** The answer had begun, so that nothing but a cut connection can tell the client. */
  brokeOff(req: IncomingMessage, error: unknown): void {
    const { requestId, route, shortCode } = contextOf(req);
    this.#logger.error('answer broke off', { request_id: requestId, route, short_code: shortCode, error });
  }
}
