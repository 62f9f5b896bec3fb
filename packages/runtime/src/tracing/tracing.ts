import type { TracingConfig } from '../config/tracing-env.ts';
import type { Logger } from '../logging/logger.ts';
import type { EndedStatement } from './statement-spans.ts';

export interface TracedProcess {
  readonly service: string;
  readonly instance: string;
  /** Receives the warnings of the SDK. */
  readonly logger: Logger;
}

/** The spans themselves are made with the API of OpenTelemetry, which does nothing while tracing is off. */
export interface Tracing {
  /** For `createDatabase`. Undefined while tracing is off: kysely then measures nothing. */
  readonly onStatement: ((statement: EndedStatement) => void) | undefined;
  /** Sends the remaining spans, for up to `withinMs`. Never rejects. */
  stop(withinMs: number): Promise<void>;
}

export const tracingOff: Tracing = {
  onStatement: undefined,
  stop: () => Promise.resolve(),
};

/**
 * Loads the SDK of OpenTelemetry only when an endpoint is configured: loading takes 170 ms and some 40 MB.
 */
export async function startTracing(
  config: TracingConfig | undefined,
  process: TracedProcess,
): Promise<Tracing> {
  if (config?.endpoint === undefined) return tracingOff;
  const { startOpenTelemetry } = await import('./open-telemetry.ts');
  return startOpenTelemetry(process);
}
