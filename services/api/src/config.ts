import {
  groups,
  httpUrl,
  intervalSeconds,
  logEnv,
  metricsEnv,
  nonNegativeInteger,
  port,
  positiveInteger,
  text,
  tracingEnv,
} from '@pasteflow/runtime';
import {
  awsEnv,
  bucketEnv,
  databaseEnv,
  idempotencyRetentionEnv,
  maxPasteBytesEnv,
  queueEnv,
} from '@pasteflow/service-kit';
import type { SlugLimit } from '@pasteflow/postgres';
import { z } from 'zod';
import { memoryLimitBytes } from './budget/memory-limit.ts';
import { trustedProxies, type TrustedProxies } from './http/request/trusted-proxies.ts';
import { identityEnv } from './identity/identity-env.ts';
import type { LimitsConfig } from './limits/limits.ts';

interface HttpConfig {
  readonly host: string;
  readonly port: number;
  /**
   * The URL under which clients reach the api, without a trailing slash; undefined: the address on which it
   * listens.
   */
  readonly publicUrl: string | undefined;
  readonly requestTimeoutMs: number;
  /** Undefined: a client's address is that of its socket. */
  readonly trustProxy: TrustedProxies | undefined;
  /** How long the URL of an asset in S3 is valid. */
  readonly assetUrlSeconds: number;
  /** The endpoint under which clients reach S3; undefined: the api's own. */
  readonly s3PublicEndpoint: string | undefined;
  /** Where readers report abuse: a URL or an email address, which every page shows; null: not shown. */
  readonly abuseContact: string | null;
}

/** A week, the longest for which S3 signs. */
const MAX_ASSET_URL_SECONDS = 604_800;

const httpEnv: z.ZodType<HttpConfig> = z
  .object({
    API_HOST: text('an address to listen on').default('127.0.0.1'),
    API_PORT: port().default(3000),
    PUBLIC_URL: httpUrl('https://paste.example.org').optional(),
    REQUEST_TIMEOUT_SECONDS: intervalSeconds().default(60),
    TRUST_PROXY: trustedProxies().optional(),
    ASSET_URL_SECONDS: positiveInteger({ max: MAX_ASSET_URL_SECONDS }).default(900),
    S3_PUBLIC_ENDPOINT: httpUrl('https://s3.example.org').optional(),
    ABUSE_CONTACT: text('a URL or an email address')
      .refine(
        (contact) => /^https?:\/\/\S+$|^[^\s@:/]+@[^\s@:/]+$/.test(contact),
        'must be a URL that begins with https:// or http://, or an email address',
      )
      .optional(),
  })
  .transform((env) => ({
    host: env.API_HOST,
    port: env.API_PORT,
    publicUrl: env.PUBLIC_URL?.replace(/(?<!\/)\/+$/, ''),
    requestTimeoutMs: env.REQUEST_TIMEOUT_SECONDS * 1000,
    trustProxy: env.TRUST_PROXY,
    assetUrlSeconds: env.ASSET_URL_SECONDS,
    s3PublicEndpoint: env.S3_PUBLIC_ENDPOINT,
    abuseContact: env.ABUSE_CONTACT ?? null,
  }));

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
const limitsEnv: z.ZodType<LimitsConfig> = z
  .object({
    RATE_LIMIT_REQUESTS_PER_MINUTE: pointsPerMinute(60_000),
    RATE_LIMIT_CREATIONS_PER_MINUTE: pointsPerMinute(12_000),
    RATE_LIMIT_MISSES_PER_MINUTE: pointsPerMinute(600),
    RATE_LIMIT_BYTES_PER_HOUR: nonNegativeInteger().default(1024 ** 3),
    RATE_LIMIT_ANONYMOUS_BYTES_PER_HOUR: nonNegativeInteger().default(10 * 1024 ** 3),
  })
  .transform((env) => ({
    requests: env.RATE_LIMIT_REQUESTS_PER_MINUTE,
    creations: env.RATE_LIMIT_CREATIONS_PER_MINUTE,
    misses: env.RATE_LIMIT_MISSES_PER_MINUTE,
    bytes: env.RATE_LIMIT_BYTES_PER_HOUR,
    anonymous_bytes: env.RATE_LIMIT_ANONYMOUS_BYTES_PER_HOUR,
  }));

export interface JobLimits {
  /** Jobs of one user that wait or run; null: no limit. */
  readonly maxOpen: number | null;
}

const jobLimitsEnv: z.ZodType<JobLimits> = z
  .object({
    MAX_OPEN_JOBS_PER_USER: nonNegativeInteger().pipe(z.number().max(1_000_000)).default(100),
  })
  .transform((env) => ({
    maxOpen: env.MAX_OPEN_JOBS_PER_USER || null,
  }));

const slugLimitEnv: z.ZodType<Required<SlugLimit>> = z
  .object({ MAX_SLUGS_PER_USER: nonNegativeInteger().pipe(z.number().max(1_000_000)).default(1000) })
  .transform((env) => ({ maxSlugs: env.MAX_SLUGS_PER_USER || null }));

interface ClientsConfig {
  /** Connections to this process. */
  readonly maxConnections: number;
  /** Requests that wait in this process. */
  readonly maxWaiters: number;
  /** Requests of one caller that wait in this process. */
  readonly maxWaitersPerCaller: number;
  /** How long a read of content waits for the upload in progress; 0: not at all. */
  readonly contentWaitMs: number;
}

/** Proxies and clients commonly give up after 30 s. */
const MAX_CONTENT_WAIT_MS = 25_000;

const MAX_CLIENTS = 1_000_000;

/** For the clients that don't wait, when MAX_CONNECTIONS is not set. */
const CONNECTIONS_BESIDE_WAITERS = 2000;

/** A waiting client takes about 20 kB, most of it for its connection: 10,000 take 200 MB. */
const clientsEnv: z.ZodType<ClientsConfig> = z
  .object({
    MAX_WAITERS: positiveInteger({ max: MAX_CLIENTS }).default(10_000),
    MAX_WAITERS_PER_CALLER: positiveInteger({ max: MAX_CLIENTS }).default(200),
    MAX_CONNECTIONS: positiveInteger({ max: MAX_CLIENTS }).optional(),
    CONTENT_WAIT_MS: nonNegativeInteger().pipe(z.number().max(MAX_CONTENT_WAIT_MS)).default(1000),
  })
  .transform((env, context) => {
    const { MAX_WAITERS: maxWaiters, MAX_CONNECTIONS: maxConnections } = env;
    if (maxConnections !== undefined && maxConnections <= maxWaiters) {
      context.addIssue({
        code: 'custom',
        path: ['MAX_CONNECTIONS'],
        message: `is not more than MAX_WAITERS (${maxWaiters}); clients that wait could take all connections. Raise it, or lower MAX_WAITERS`,
      });
    }
    return {
      maxWaiters,
      maxWaitersPerCaller: env.MAX_WAITERS_PER_CALLER,
      contentWaitMs: env.CONTENT_WAIT_MS,
      maxConnections: maxConnections ?? maxWaiters + CONNECTIONS_BESIDE_WAITERS,
    };
  });

/** An eighth: a byte of a body takes two in memory and up to another two as garbage, and the idle process about 135 MiB. */
const maxBodyBytesEnv: z.ZodType<number> = z
  .object({ MAX_BODY_BYTES_IN_FLIGHT: positiveInteger().default(Math.floor(memoryLimitBytes() / 8)) })
  .transform((env) => env.MAX_BODY_BYTES_IN_FLIGHT);

const MIB = 1024 * 1024;

interface DownloadsConfig {
  /** Bytes of contents that are in memory as a whole. */
  readonly maxBytes: number;
  readonly maxStreamsPerCaller: number;
  /** Bytes of contents that are kept for the next reads; 0: none. */
  readonly cacheBytes: number;
  /** 0: no minimum. */
  readonly minBytesPerSecond: number;
}

const downloadsEnv: z.ZodType<DownloadsConfig> = z
  .object({
    MAX_DOWNLOAD_BYTES_IN_FLIGHT: positiveInteger().default(Math.floor(memoryLimitBytes() / 16)),
    MAX_DOWNLOADS_PER_CALLER: positiveInteger().default(20),
    CONTENT_CACHE_BYTES: nonNegativeInteger().default(
      Math.min(64 * MIB, Math.floor(memoryLimitBytes() / 16)),
    ),
    MIN_DOWNLOAD_BYTES_PER_SECOND: nonNegativeInteger().default(16_384),
  })
  .transform((env) => ({
    maxBytes: env.MAX_DOWNLOAD_BYTES_IN_FLIGHT,
    maxStreamsPerCaller: env.MAX_DOWNLOADS_PER_CALLER,
    cacheBytes: env.CONTENT_CACHE_BYTES,
    minBytesPerSecond: env.MIN_DOWNLOAD_BYTES_PER_SECOND,
  }));

export const configSchema = groups({
  log: logEnv,
  database: databaseEnv,
  aws: awsEnv,
  bucket: bucketEnv,
  queues: queueEnv,
  http: httpEnv,
  limits: limitsEnv,
  jobLimits: jobLimitsEnv,
  slugLimit: slugLimitEnv,
  idempotencyRetentionSeconds: idempotencyRetentionEnv,
  identity: identityEnv,
  clients: clientsEnv,
  maxBodyBytesInFlight: maxBodyBytesEnv,
  downloads: downloadsEnv,
  maxPasteBytes: maxPasteBytesEnv,
  metrics: metricsEnv(9464),
  tracing: tracingEnv,
});

export type Config = z.output<typeof configSchema>;
