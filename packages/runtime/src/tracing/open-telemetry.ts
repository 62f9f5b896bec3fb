import {
  context,
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type DiagLogger,
  type Link,
  type Span,
  type SpanContext,
  type Tracer,
} from '@opentelemetry/api';
import {
  defaultResource,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import { NodeSDK } from '@opentelemetry/sdk-node';
import type { Logger } from '../logging/logger.ts';
import { redactText } from '../logging/redact.ts';
import { sleep } from '../sleep.ts';
import { summaryOf } from './summary.ts';
import { parseTraceparent } from './traceparent.ts';
import type { EndedStatement, SpanOptions, TracedProcess, Tracing, TraceSpan } from './tracing.ts';

/** A collector that is away fails every export, several a minute: one line a minute says so. */
const COMPLAIN_EVERY_MS = 60_000;

/** Of an error, in a span or a line. */
const MAX_REASON_CHARACTERS = 500;

/**
 * Spans by OpenTelemetry, exported over OTLP/HTTP. The SDK takes its settings from the environment by itself. Nothing is instrumented
 * behind the code's back: patching modules is fragile with ESM, and would show requests where we want to show uploads.
 */
export function startOpenTelemetry({ service, instance, logger }: TracedProcess): Tracing {
  const sdk = new NodeSDK({
    resource: defaultResource().merge(
      resourceFromAttributes({
        'service.namespace': 'pasteflow',
        'service.name': service,
        'service.instance.id': instance,
      }),
    ),
    // Others tell the command line.
    resourceDetectors: [resourceAttributesEnvDetector, serviceNameEnvDetector],
    metricReaders: [], // Prometheus has them
    logRecordProcessors: [],
    instrumentations: [],
  });
  diag.setLogger(complaints(logger), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  sdk.start();
  return new OpenTelemetry(sdk, logger);
}

class OpenTelemetry implements Tracing {
  readonly on = true;
  readonly #sdk: NodeSDK;
  readonly #logger: Logger;
  readonly #tracer: Tracer;

  constructor(sdk: NodeSDK, logger: Logger) {
    this.#sdk = sdk;
    this.#logger = logger;
    this.#tracer = trace.getTracer('pasteflow');
  }

  start(name: string, options: SpanOptions = {}): TraceSpan {
    const parent = parentOf(options.parent);
    const span = this.#tracer.startSpan(
      name,
      {
        kind: kindOf(options.kind),
        attributes: { ...options.attributes },
        links: linksOf(options.links),
        startTime: options.startedAt ?? performance.now(),
      },
      parent,
    );
    return new OpenSpan(span, trace.setSpan(parent, span));
  }

  async span<T>(name: string, options: SpanOptions, act: (span: TraceSpan) => Promise<T>): Promise<T> {
    const span = this.start(name, options);
    try {
      return await span.run(() => act(span));
    } catch (error) {
      span.fail(error);
      throw error;
    } finally {
      span.end();
    }
  }

  current(): string | undefined {
    const current = trace.getSpanContext(context.active());
    return current && traceparentOf(current);
  }

  currentIds() {
    const current = trace.getSpanContext(context.active());
    return current && { trace_id: current.traceId, span_id: current.spanId };
  }

  outside<T>(act: () => T): T {
    return context.with(ROOT_CONTEXT, act);
  }

  readonly onStatement = ({ query, queryDurationMillis, error }: EndedStatement): void => {
    if (trace.getSpan(context.active())?.isRecording() !== true) return;
    const summary = summaryOf(query.sql);
    const span = this.start(summary, {
      kind: 'client',
      attributes: { 'db.system.name': 'postgresql', 'db.query.summary': summary },
      startedAt: performance.now() - queryDurationMillis,
    });
    if (error !== undefined) span.fail(error);
    span.end();
  };

  async stop(withinMs: number): Promise<void> {
    const ended = new AbortController();
    const flushed = this.#sdk.shutdown().then(
      () => true,
      (error: unknown) => {
        this.#logger.warn('the last spans could not be sent', { reason: reasonOf(error) });
        return true;
      },
    );
    const intime = await Promise.race([flushed, sleep(withinMs, ended.signal).then(() => false)]);
    ended.abort();
    if (!intime)
      this.#logger.warn('the last spans could not be sent', { reason: `not within ${withinMs} ms` });
  }
}

class OpenSpan implements TraceSpan {
  readonly #span: Span;
  readonly #context: Context;

  constructor(span: Span, within: Context) {
    this.#span = span;
    this.#context = within;
  }

  get traceparent(): string {
    return traceparentOf(this.#span.spanContext());
  }

  rename(name: string): void {
    this.#span.updateName(name);
  }

  set(attributes: Readonly<Record<string, string | number | boolean>>): void {
    this.#span.setAttributes({ ...attributes });
  }

  fail(error: unknown): void {
    this.#span.setAttribute('error.type', typeOf(error));
    this.#span.setStatus({ code: SpanStatusCode.ERROR, message: reasonOf(error) });
  }

  run<T>(act: () => T): T {
    return context.with(this.#context, act);
  }

  end(): void {
    this.#span.end(performance.now()); // by the clock that it began with
  }
}

function parentOf(parent: string | null | undefined): Context {
  if (parent === undefined) return context.active();
  const remote = contextOf(parent ?? undefined);
  return remote === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, remote);
}

function linksOf(links: readonly string[] = []): Link[] {
  return links.map(contextOf).flatMap((linked) => (linked === undefined ? [] : [{ context: linked }]));
}

function contextOf(traceparent: string | undefined): SpanContext | undefined {
  const remote = parseTraceparent(traceparent);
  return (
    remote && {
      traceId: remote.traceId,
      spanId: remote.spanId,
      traceFlags: remote.flags,
      isRemote: true,
    }
  );
}

function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

function kindOf(kind: SpanOptions['kind']): SpanKind {
  switch (kind) {
    case undefined:
      return SpanKind.INTERNAL;
    case 'server':
      return SpanKind.SERVER;
    case 'client':
      return SpanKind.CLIENT;
    case 'producer':
      return SpanKind.PRODUCER;
    case 'consumer':
      return SpanKind.CONSUMER;
    default:
      return kind satisfies never;
  }
}

/** The message alone: a stack says nothing that the code doesn't, and more of an error may hold content. */
function reasonOf(error: unknown): string {
  const text = Error.isError(error) ? error.message : String(error);
  return redactText(text).slice(0, MAX_REASON_CHARACTERS);
}

function typeOf(error: unknown): string {
  if (!Error.isError(error)) return 'failed';
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : error.name;
}

/** What the SDK has to say goes into our log. An export that fails is told as the JSON of its error. */
function complaints(logger: Logger): DiagLogger {
  const silent = (): void => {};
  let lastAt = -Infinity;
  let unsaid = 0;
  const complain = (message: string): void => {
    const now = performance.now();
    if (now - lastAt < COMPLAIN_EVERY_MS) {
      unsaid += 1;
      return;
    }
    logger.warn('spans are not exported as they should be', {
      reason: reasonOf(messageOf(message)),
      ...(unsaid > 0 && { unsaid }),
    });
    lastAt = now;
    unsaid = 0;
  };
  return { error: complain, warn: complain, info: silent, debug: silent, verbose: silent };
}

function messageOf(text: string): string {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    return typeof message === 'string' ? message : text;
  } catch {
    return text;
  }
}
