import type { z } from 'zod';
import { groups, setting } from './load-config.ts';
import { port, text } from './variables.ts';

/**
 * Where /healthz, /readyz and /metrics are served. Each service has its own default port, so that all three
 * run on one host.
 */
export function metricsEnv(defaultPort: number): z.ZodType<{ readonly host: string; readonly port: number }> {
  return groups({
    host: setting('METRICS_HOST', text('an address to listen on').default('127.0.0.1')),
    port: setting('METRICS_PORT', port().default(defaultPort)),
  });
}

export type MetricsConfig = z.output<ReturnType<typeof metricsEnv>>;
