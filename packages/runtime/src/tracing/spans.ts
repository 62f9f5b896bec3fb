import {
  context,
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanStatusCode,
  trace,
  type Context,
  type Span,
  type SpanContext,
  type SpanOptions,
  SpanKind,
} from '@opentelemetry/api';
import { redactText } from '../logging/redact.ts';

/** The maximum length of an error message in a span. */
const MAX_REASON_CHARACTERS = 500;

/** Creates all spans. Until the SDK is started its spans record nothing. */
export const tracer = trace.getTracer('pasteflow');

let isOn = false;

/** Whether anything traces. Until then no context is made, because each costs every request. */
export const isTracing = (): boolean => isOn;

/** To be called when the SDK has started. */
export function turnTracingOn(): void {
  isOn = true;
}

/** Runs `act` in a span that ends with `act`, as failed when `act` rejects. */
export async function withSpan<T>(name: string, options: SpanOptions, act: () => Promise<T>): Promise<T> {
  if (!isOn) return await act();
  return await tracer.startActiveSpan(name, options, async (span) => {
    try {
      return await act();
    } catch (error) {
      failSpan(span, error);
      throw error;
    } finally {
      span.end();
    }
  });
}

/** Spans that `act` starts become children of `span`, and log lines that `act` writes carry its ids. */
export function runInSpan<T>(span: Span, act: () => T): T {
  return isOn ? context.with(trace.setSpan(context.active(), span), act) : act();
}

/**
 * For work on behalf of many requests, and for callbacks that run in the context in which a connection was
 * opened.
 */
export function runOutsideSpans<T>(act: () => T): T {
  return isOn ? context.with(ROOT_CONTEXT, act) : act();
}

/** `act`, which then runs outside of the span in which it is called. */
export function outsideSpans<Act>(act: Act): Act {
  return context.bind(ROOT_CONTEXT, act);
}

/**
 * Marks the span as failed. Only the redacted message of an error is recorded, since a stack or other fields
 * may hold content.
 */
export function failSpan(span: Span, error: unknown): void {
  span.setAttribute('error.type', typeOf(error));
  span.setStatus({ code: SpanStatusCode.ERROR, message: reasonOf(error) });
}

/**
 * The parent of a span whose trace began in another process. Without a valid traceparent the span begins a
 * trace.
 */
export function remoteParent(traceparent: string | undefined): Context {
  const remote = parseTraceparent(traceparent);
  return remote === undefined
    ? ROOT_CONTEXT
    : trace.setSpanContext(ROOT_CONTEXT, {
        traceId: remote.traceId,
        spanId: remote.spanId,
        traceFlags: remote.flags,
        isRemote: true,
      });
}

/** The W3C traceparent that a message carries to its receiver; undefined while tracing is off. */
export function traceparentOf(span: Span): string | undefined {
  const spanContext = span.spanContext();
  if (!isSpanContextValid(spanContext)) return undefined;
  const { traceId, spanId, traceFlags } = spanContext;
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

/** Undefined outside of spans, in a request that is not traced, and while tracing is off. */
function activeSpanContext(): SpanContext | undefined {
  if (!isOn) return undefined;
  const active = trace.getSpanContext(context.active());
  return active !== undefined && isSpanContextValid(active) ? active : undefined;
}

/** The log fields of the active span. */
export function activeSpanIds(): { readonly trace_id: string; readonly span_id: string } | undefined {
  const active = activeSpanContext();
  return active && { trace_id: active.traceId, span_id: active.spanId };
}

/** A redacted and shortened error message. */
export function reasonOf(error: unknown): string {
  const text = Error.isError(error) ? error.message : String(error);
  return redactText(text).slice(0, MAX_REASON_CHARACTERS);
}

function typeOf(error: unknown): string {
  if (!Error.isError(error)) return 'failed';
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : error.name;
}

/** By https://www.w3.org/TR/trace-context/, version ff is invalid, and so are ids that consist of zeros. */
export const TRACEPARENT =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

interface RemoteSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly flags: number;
}

/** @returns undefined for an invalid traceparent */
export function parseTraceparent(traceparent: string | undefined): RemoteSpan | undefined {
  if (traceparent === undefined) return undefined;
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) };
}

/**
 * The log field of the trace that a request or a message belongs to. Independent of whether this process
 * traces.
 */
export function traceIdOf(traceparent: string | undefined): { trace_id?: string } {
  const remote = parseTraceparent(traceparent);
  return remote === undefined ? {} : { trace_id: remote.traceId };
}

/** The fields of a message that its span needs. */
interface Sendable {
  readonly executionId: string;
  readonly context: { readonly requestId?: string; readonly traceparent?: string };
}

/**
 * For senders of messages (`TraceMessage` in packages/sqs): starts a span when a message is dispatched and
 * ends it when SQS has the message. The message carries the span's context.
 */
export function messageSpans<Message extends Sendable>({
  queueName,
  relation,
}: {
  readonly queueName: string;
  /**
   * `child`: the span is a child of the sender's span. `linked`: each message begins a trace of its own, with
   * a link to the sender's span, because an import sends 10,000 messages.
   */
  readonly relation: 'child' | 'linked';
}) {
  return (message: Message) => {
    const { requestId } = message.context;
    const span = tracer.startSpan(`send ${queueName}`, {
      kind: SpanKind.PRODUCER,
      ...(relation === 'linked' && linkToActiveSpan()),
      attributes: {
        'messaging.system': 'aws_sqs',
        'messaging.operation.type': 'send',
        'messaging.destination.name': queueName,
        'pasteflow.execution_id': message.executionId,
        ...(requestId !== undefined && { 'pasteflow.request_id': requestId }),
      },
    });
    const traceparent = traceparentOf(span);
    return {
      message:
        traceparent === undefined ? message : { ...message, context: { ...message.context, traceparent } },
      ended: (sent: readonly string[], error?: unknown): void => {
        if (!sent.includes(message.executionId))
          failSpan(span, error ?? new Error('SQS rejected the message.'));
        span.end();
      },
    };
  };
}

function linkToActiveSpan() {
  const active = activeSpanContext();
  return active && { root: true, links: [{ context: active }] };
}
