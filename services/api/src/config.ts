import { totalmem } from 'node:os';
import { MAX_OPEN_REPORTS } from '@pasteflow/domain';
import {
  groups,
  httpUrl,
  intervalSeconds,
  logEnv,
  metricsEnv,
  nonNegativeInteger,
  port,
  positiveInteger,
  setting,
  text,
  tracingEnv,
} from '@pasteflow/runtime';
import {
  awsEnv,
  bucketEnv,
  databaseEnv,
  houseEnv,
  idempotencyRetentionEnv,
  jobTypesEnv,
  maxPasteBytesEnv,
  queueEnv,
  publicUrlEnv,
  quotaEnv,
  webhookEnv,
} from '@pasteflow/service-kit';
import { z } from 'zod';
import { corsOrigins } from './http/answers/response-headers.ts';
import { trustedProxies } from './http/request/client-address.ts';
import { identityEnv } from './sessions/identity-env.ts';

/** A week, the longest for which S3 signs. */
const MAX_ASSET_URL_SECONDS = 604_800;

const httpSettings = groups({
  host: setting('API_HOST', text('an address to listen on').default('127.0.0.1')),
  port: setting('API_PORT', port().default(3000)),
  /** Undefined: the address on which it listens. */
  publicUrl: publicUrlEnv,
  requestTimeoutMs: setting(
    'REQUEST_TIMEOUT_SECONDS',
    intervalSeconds()
      .default(60)
      .transform((seconds) => seconds * 1000),
  ),
  /** Undefined: a client's address is that of its socket. */
  trustProxy: setting('TRUST_PROXY', trustedProxies().optional()),
  /** How long the URL of an asset in S3 is valid. */
  assetUrlSeconds: setting('ASSET_URL_SECONDS', positiveInteger({ max: MAX_ASSET_URL_SECONDS }).default(900)),
  /** The endpoint under which clients reach S3; undefined: the api's own. */
  s3PublicEndpoint: setting('S3_PUBLIC_ENDPOINT', httpUrl('https://s3.example.org').optional()),
  /** The sites whose pages may create and read pastes without credentials. */
  corsOrigins: setting('CORS_ORIGINS', corsOrigins().default('*')),
});

/** The counters are 32-bit integers, and refused requests still count until the window ends. */
const MAX_POINTS_PER_MINUTE = 1_000_000_000;

function pointsPerMinute(standard: number) {
  return nonNegativeInteger()
    .pipe(
      z
        .number()
        .max(
          MAX_POINTS_PER_MINUTE,
          `is too large; set it to at most ${MAX_POINTS_PER_MINUTE}, or to 0 for no limit`,
        ),
    )
    .default(standard);
}

/**
 * The defaults are so high that only a program out of control reaches them. They protect the service; how
 * much a user may use is for the operator to decide. 200 creations and 1000 requests a second are a large
 * part of what one process can do. Ten misses a second are more than a client makes by mistake; at that rate,
 * finding one of a billion pastes takes 2.7 years. A GiB an hour is a hundred of the largest pastes.
 */
const limitSettings = groups({
  requests: setting('RATE_LIMIT_REQUESTS_PER_MINUTE', pointsPerMinute(60_000)),
  creations: setting('RATE_LIMIT_CREATIONS_PER_MINUTE', pointsPerMinute(12_000)),
  misses: setting('RATE_LIMIT_MISSES_PER_MINUTE', pointsPerMinute(600)),
  bytes: setting('RATE_LIMIT_BYTES_PER_HOUR', nonNegativeInteger().default(1024 ** 3)),
  anonymous_bytes: setting(
    'RATE_LIMIT_ANONYMOUS_BYTES_PER_HOUR',
    nonNegativeInteger().default(10 * 1024 ** 3),
  ),
  reports: setting('RATE_LIMIT_REPORTS_PER_HOUR', nonNegativeInteger().default(20)),
  address_bytes: setting('RATE_LIMIT_ADDRESS_BYTES_PER_DAY', nonNegativeInteger().default(0)),
});

/** How many a user may have; null, from a setting of 0: as many as the user likes. */
function mostPerUser(standard: number) {
  return nonNegativeInteger()
    .pipe(z.number().max(1_000_000))
    .default(standard)
    .transform((most) => most || null);
}

const MAX_CLIENTS = 1_000_000;

/** Of this process. A waiting client takes about 20 kB, most of it for its connection: 10,000 take 200 MB. */
const clientSettings = groups({
  /** Requests that wait. */
  maxWaiters: setting('MAX_WAITERS', positiveInteger({ max: MAX_CLIENTS }).default(10_000)),
});

/** The bytes of memory that this process may use: those of its container, otherwise those of the machine. */
const memoryBytes = Math.min(process.constrainedMemory() || totalmem(), totalmem());

const MIB = 1024 * 1024;

const downloadSettings = groups({
  /** Bytes of content that is in memory as a whole. */
  maxBytes: setting('MAX_DOWNLOAD_BYTES_IN_FLIGHT', positiveInteger().default(Math.floor(memoryBytes / 16))),
  /** Bytes of content that is kept for the next reads; 0: none. */
  cacheBytes: setting(
    'CONTENT_CACHE_BYTES',
    nonNegativeInteger().default(Math.min(64 * MIB, Math.floor(memoryBytes / 16))),
  ),
  /** 0: no minimum. */
  minBytesPerSecond: setting('MIN_DOWNLOAD_BYTES_PER_SECOND', nonNegativeInteger().default(16_384)),
});

export const configSchema = groups({
  log: logEnv,
  database: databaseEnv,
  aws: awsEnv,
  bucket: bucketEnv,
  queues: queueEnv,
  http: httpSettings,
  limits: limitSettings,
  /** So many reporters hold a paste until an operator has judged the reports; null, from 0: none do. */
  reports: groups({
    holdAfter: setting(
      'REPORTS_HOLD_AFTER',
      nonNegativeInteger()
        .pipe(z.number().max(MAX_OPEN_REPORTS, `is too large; set it to at most ${MAX_OPEN_REPORTS}`))
        .default(0)
        .transform((reporters) => reporters || null),
    ),
  }),
  jobTypesFile: jobTypesEnv,
  /** Jobs of one user that wait or run. */
  jobLimits: groups({ maxOpen: setting('MAX_OPEN_JOBS_PER_USER', mostPerUser(100)) }),
  quotas: quotaEnv,
  slugLimit: groups({ maxSlugs: setting('MAX_SLUGS_PER_USER', mostPerUser(1000)) }),
  /** Who runs the service, and what new pastes may be. */
  house: houseEnv,
  webhooks: webhookEnv,
  idempotencyRetentionSeconds: idempotencyRetentionEnv,
  identity: identityEnv,
  clients: clientSettings,
  /** An eighth: a byte of a body takes up to four, and the idle process about 135 MiB. */
  maxBodyBytesInFlight: setting(
    'MAX_BODY_BYTES_IN_FLIGHT',
    positiveInteger().default(Math.floor(memoryBytes / 8)),
  ),
  downloads: downloadSettings,
  maxPasteBytes: maxPasteBytesEnv,
  metrics: metricsEnv(9464),
  tracing: tracingEnv,
  isDevelopment: setting(
    'NODE_ENV',
    z
      .string()
      .optional()
      .transform((name) => name === 'development'),
  ),
});

export type Config = z.output<typeof configSchema>;
