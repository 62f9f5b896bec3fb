import { z } from 'zod';
import { flag, httpUrl, oneOf, text, variable } from './variables.ts';

/** Undefined: tracing is off. */
export interface TracingConfig {
  readonly endpoint: string | undefined;
}

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

const share = variable('a share from 0 to 1, e.g. 0.1', (value) => {
  const number = /^\d+(\.\d+)?$/.test(value) ? Number(value) : NaN;
  return number <= 1 ? number : undefined;
});

/**
 * OpenTelemetry's own variables, which its SDK reads by itself, these and all the others of its specification; here they are checked, and
 * the endpoint decides whether the SDK is loaded at all.
 */
export const tracingEnv: z.ZodType<TracingConfig> = z
  .object({
    OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl('http://127.0.0.1:4318').optional(),
    OTEL_EXPORTER_OTLP_PROTOCOL: oneOf(['http/protobuf', 'http/json']).optional(),
    OTEL_EXPORTER_OTLP_HEADERS: text('headers like name=value,name=value').optional(),
    OTEL_TRACES_SAMPLER: oneOf(samplers).optional(),
    OTEL_TRACES_SAMPLER_ARG: share.optional(),
    OTEL_SDK_DISABLED: flag().default(false),
  })
  .transform((env) => ({
    endpoint: env.OTEL_SDK_DISABLED ? undefined : env.OTEL_EXPORTER_OTLP_ENDPOINT,
  }));
