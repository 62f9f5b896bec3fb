import type { Logger } from '../logging/logger.ts';

/** Who traces. */
export interface TracedProcess {
  readonly service: string;
  readonly instance: string;
  /** For what the SDK has to say. */
  readonly logger: Logger;
}

/** Ids and counts, never content, never a secret: attributes are shown to whoever may see traces. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanOptions {
  /** `internal` unless told. */
  readonly kind?: 'server' | 'client' | 'producer' | 'consumer';
  /** A W3C traceparent from outside this process; null begins a trace of its own; unless told, the span that this runs in. */
  readonly parent?: string | null;
  /** Traceparents of spans in other traces that this one has to do with. */
  readonly links?: readonly string[];
  readonly attributes?: SpanAttributes;
  /** By performance.now(); now unless told. */
  readonly startedAt?: number;
}

/** A piece of work in a trace. */
export interface TraceSpan {
  /** What a message takes along, so that its receiver goes on with this trace; undefined while tracing is off. */
  readonly traceparent: string | undefined;
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /** It failed, for this reason. */
  fail(error: unknown): void;
  /** Spans that are begun in it are this one's children, and log lines that are written in it carry its ids. */
  run<T>(act: () => T): T;
  end(): void;
}

/** What a log line says of the span that it is written in. */
export type SpanIds = Readonly<Record<'trace_id' | 'span_id', string>>;

/** As kysely tells of a statement once it has ended, in the context of who asked for it. */
export interface EndedStatement {
  readonly query: { readonly sql: string };
  readonly queryDurationMillis: number;
  readonly error?: unknown;
}

/**
 * Spans of this process. While tracing is off all of it does nothing, and nothing of OpenTelemetry is loaded: what would cost something
 * even so is behind `on`.
 */
export interface Tracing {
  readonly on: boolean;
  /** Begins a span; whoever begins it ends it. */
  start(name: string, options?: SpanOptions): TraceSpan;
  /** Runs `act` in a span that ends with it, as failed when it rejects. */
  span<T>(name: string, options: SpanOptions, act: (span: TraceSpan) => Promise<T>): Promise<T>;
  /** The traceparent of the span that this runs in. */
  current(): string | undefined;
  currentIds(): SpanIds | undefined;
  /** Outside of any span: for what is done on behalf of many, and for callbacks that run where a connection was once opened. */
  outside<T>(act: () => T): T;
  /** For `createDatabase`: each statement that runs in a span becomes a span there. Undefined while tracing is off. */
  readonly onStatement: ((statement: EndedStatement) => void) | undefined;
  /** Sends what is left, for up to so long. Never rejects. */
  stop(withinMs: number): Promise<void>;
}

/** A span while tracing is off: one for all. */
export const noSpan: TraceSpan = {
  traceparent: undefined,
  rename: () => {},
  set: () => {},
  fail: () => {},
  run: (act) => act(),
  end: () => {},
};

export const tracingOff: Tracing = {
  on: false,
  start: () => noSpan,
  span: (_name, _options, act) => act(noSpan),
  current: () => undefined,
  currentIds: () => undefined,
  outside: (act) => act(),
  onStatement: undefined,
  stop: () => Promise.resolve(),
};
