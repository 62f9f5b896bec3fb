/** By https://www.w3.org/TR/trace-context/, version ff is invalid, and so are ids that consist of zeros. */
export const TRACEPARENT =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

export interface RemoteSpan {
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
