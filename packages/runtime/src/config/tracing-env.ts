import { z } from 'zod';
import { flag, httpUrl, oneOf, secret, variable } from './variables.ts';

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
 * Variables of OpenTelemetry's specification, all of which the SDK reads from the environment. The common
 * ones are checked here, and the SDK is loaded only if the endpoint is set; undefined: tracing is off.
 */
export const tracingEnv: z.ZodType<{ readonly endpoint: string | undefined }> = z
  .object({
    OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl('http://127.0.0.1:4318').optional(),
    OTEL_EXPORTER_OTLP_PROTOCOL: oneOf(['http/protobuf', 'http/json']).optional(),
    OTEL_EXPORTER_OTLP_HEADERS: secret('headers like name=value,name=value').optional(),
    OTEL_TRACES_SAMPLER: oneOf(samplers).optional(),
    OTEL_TRACES_SAMPLER_ARG: share.optional(),
    OTEL_SDK_DISABLED: flag().default(false),
  })
  .transform((env) => ({
    endpoint: env.OTEL_SDK_DISABLED ? undefined : env.OTEL_EXPORTER_OTLP_ENDPOINT,
  }));

export type TracingConfig = z.output<typeof tracingEnv>;
