import { DEFAULT_MAX_PASTE_BYTES } from '@pasteflow/domain';
import {
  awsEnv,
  bucketEnv,
  databaseEnv,
  groups,
  httpUrl,
  intervalSeconds,
  logEnv,
  metricsEnv,
  port,
  positiveInteger,
  queueEnv,
  text,
} from '@pasteflow/runtime';
import { z } from 'zod';

export interface HttpConfig {
  readonly host: string;
  readonly port: number;
  /** Where clients reach the api, without a slash at its end; undefined: where it listens. */
  readonly publicUrl: string | undefined;
  readonly maxPasteBytes: number;
  readonly requestTimeoutMs: number;
}

/** JSON of six times the size has to fit into one string, and V8's longest has 2^29 - 24 characters. */
const MOST_PASTE_BYTES = 64 * 1024 * 1024;

const httpEnv: z.ZodType<HttpConfig> = z
  .object({
    API_HOST: text('an address to listen on').default('127.0.0.1'),
    API_PORT: port().default(3000),
    PUBLIC_URL: httpUrl('https://paste.example.org').optional(),
    MAX_PASTE_BYTES: positiveInteger()
      .pipe(z.number().max(MOST_PASTE_BYTES, `is too large; set it to at most ${MOST_PASTE_BYTES}`))
      .default(DEFAULT_MAX_PASTE_BYTES),
    REQUEST_TIMEOUT_SECONDS: intervalSeconds().default(60),
  })
  .transform((env) => ({
    host: env.API_HOST,
    port: env.API_PORT,
    publicUrl: env.PUBLIC_URL?.replace(/\/+$/, ''),
    maxPasteBytes: env.MAX_PASTE_BYTES,
    requestTimeoutMs: env.REQUEST_TIMEOUT_SECONDS * 1000,
  }));

export const configSchema = groups({
  log: logEnv,
  database: databaseEnv,
  aws: awsEnv,
  bucket: bucketEnv,
  queues: queueEnv,
  http: httpEnv,
  metrics: metricsEnv(9464),
});

export type Config = z.output<typeof configSchema>;
