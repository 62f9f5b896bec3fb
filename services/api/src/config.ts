import {
  groups,
  httpUrl,
  intervalSeconds,
  logEnv,
  metricsEnv,
  nonNegativeInteger,
  oneOf,
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
} from '@pasteflow/settings';
import { z } from 'zod';
import { trustedProxies, type TrustedProxies } from './http/request/trusted-proxies.ts';
import type { OidcConfig } from './identity/compose-oidc.ts';
import type { LimitsConfig } from './limits/limits.ts';

interface HttpConfig {
  readonly host: string;
  readonly port: number;
  /** Where clients reach the api, without a slash at its end; undefined: where it listens. */
  readonly publicUrl: string | undefined;
  readonly requestTimeoutMs: number;
  /** Undefined: a client's address is its socket's. */
  readonly trustProxy: TrustedProxies | undefined;
  /** For how long the URL of an asset in S3 is good. */
  readonly assetUrlSeconds: number;
  /** Where clients reach S3; undefined: where the api does. */
  readonly s3PublicEndpoint: string | undefined;
}

/** A week: S3 signs for no longer. */
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
  })
  .transform((env) => ({
    host: env.API_HOST,
    port: env.API_PORT,
    publicUrl: env.PUBLIC_URL?.replace(/\/+$/, ''),
    requestTimeoutMs: env.REQUEST_TIMEOUT_SECONDS * 1000,
    trustProxy: env.TRUST_PROXY,
    assetUrlSeconds: env.ASSET_URL_SECONDS,
    s3PublicEndpoint: env.S3_PUBLIC_ENDPOINT,
  }));

export interface IdentityConfig {
  readonly anonymousPastes: 'allow' | 'deny';
  /** Null: api tokens only. */
  readonly oidc: OidcConfig | null;
}

const identityEnv: z.ZodType<IdentityConfig> = z
  .object({
    ANONYMOUS_PASTES: oneOf(['allow', 'deny']).default('allow'),
    // OpenID Connect Discovery, 2: without query and fragment. Users are named ISSUER#SUBJECT, which a second # would blur.
    OIDC_ISSUER: httpUrl('https://login.example.org')
      .refine((issuer) => !/[?#@]/.test(issuer), 'has a query, a fragment or credentials; set it without')
      .optional(),
    OIDC_AUDIENCE: text('what the tokens have as aud').optional(),
  })
  .transform(
    ({ ANONYMOUS_PASTES: anonymousPastes, OIDC_ISSUER: issuer, OIDC_AUDIENCE: audience }, context) => {
      if (issuer !== undefined && audience !== undefined)
        return { anonymousPastes, oidc: { issuer, audience } };
      if (issuer !== undefined) {
        context.addIssue({
          code: 'custom',
          path: ['OIDC_AUDIENCE'],
          message: 'is missing; set it to what the tokens for this api have as aud, or unset OIDC_ISSUER',
        });
      }
      if (audience !== undefined) {
        context.addIssue({
          code: 'custom',
          path: ['OIDC_ISSUER'],
          message: 'is missing; set it to the URL of the identity provider, or unset OIDC_AUDIENCE',
        });
      }
      return { anonymousPastes, oidc: null };
    },
  );

/** The counters are integers of 32 bits, and what is refused counts on for a while. */
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
 * So high that only a program that has gone wild meets them: they protect the service, and who may use how much of it is the operator's to
 * say. 200 creations and 1000 requests a second are a good part of what one process can do; ten misses a second are more than any
 * client makes by mistake, and it takes one 2.7 years of them to find one of a billion pastes.
 */
const limitsEnv: z.ZodType<LimitsConfig> = z
  .object({
    RATE_LIMIT_REQUESTS_PER_MINUTE: pointsPerMinute(60_000),
    RATE_LIMIT_CREATIONS_PER_MINUTE: pointsPerMinute(12_000),
    RATE_LIMIT_MISSES_PER_MINUTE: pointsPerMinute(600),
  })
  .transform((env) => ({
    requests: env.RATE_LIMIT_REQUESTS_PER_MINUTE,
    creations: env.RATE_LIMIT_CREATIONS_PER_MINUTE,
    misses: env.RATE_LIMIT_MISSES_PER_MINUTE,
  }));

/** Each takes some 20 kB, most of it its connection's: 10,000 are 200 MB. */
const maxWaitersEnv: z.ZodType<number> = z
  .object({ MAX_WAITERS: positiveInteger({ max: 1_000_000 }).default(10_000) })
  .transform((env) => env.MAX_WAITERS);

export const configSchema = groups({
  log: logEnv,
  database: databaseEnv,
  aws: awsEnv,
  bucket: bucketEnv,
  queues: queueEnv,
  http: httpEnv,
  limits: limitsEnv,
  idempotencyRetentionSeconds: idempotencyRetentionEnv,
  identity: identityEnv,
  maxWaiters: maxWaitersEnv,
  maxPasteBytes: maxPasteBytesEnv,
  metrics: metricsEnv(9464),
  tracing: tracingEnv,
});

export type Config = z.output<typeof configSchema>;
