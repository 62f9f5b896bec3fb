import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger, Metrics } from '@pasteflow/runtime';
import { severityOf, type Problem } from '../errors/problem.ts';
import { contextOf, idsOf } from '../request/request-context.ts';
import { METHODS } from './request-span.ts';

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
      ...(context.jobId !== undefined && { job_id: context.jobId }),
      ...(context.sizeBytes !== undefined && { size_bytes: context.sizeBytes }),
      ...(waitedMs > 0 && { waited_ms: Math.round(waitedMs) }),
      ...(context.replayed === true && { replayed: true }),
      ...(context.errorCode !== undefined && { code: context.errorCode }),
      ...(!res.writableFinished && { aborted: true }),
    });
    const label = METHODS.has(method) ? method : 'other';
    if (context.errorCode !== undefined)
      this.#problems.inc({ route: context.route, code: context.errorCode });
    this.#durations.observe({ method: label, route: context.route, status }, (durationMs - waitedMs) / 1000);
  }

  /** A paste was committed. A replayed answer creates none. */
  pasteCreated(form: 'json' | 'shell' | 'page' | 'private-bin', bytes: number): void {
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
