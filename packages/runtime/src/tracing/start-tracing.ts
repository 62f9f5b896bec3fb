import type { TracingConfig } from '../config/tracing-env.ts';
import { tracingOff, type TracedProcess, type Tracing } from './tracing.ts';

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
