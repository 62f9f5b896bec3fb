import { z } from 'zod';
import { port, text } from './variables.ts';

export interface MetricsConfig {
  readonly host: string;
  readonly port: number;
}

/**
 * Where /healthz, /readyz and /metrics are served. Each service has its own default port, so that all three
 * run on one host.
 */
export function metricsEnv(defaultPort: number): z.ZodType<MetricsConfig> {
  return z
    .object({
      METRICS_HOST: text('an address to listen on').default('127.0.0.1'),
      METRICS_PORT: port().default(defaultPort),
    })
    .transform((env) => ({ host: env.METRICS_HOST, port: env.METRICS_PORT }));
}
