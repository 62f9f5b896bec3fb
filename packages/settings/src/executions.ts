import {
  DEFAULT_LEASE_SECONDS,
  defaultRetryPolicy,
  MAX_JOB_LOSSES,
  type RetryPolicy,
} from '@pasteflow/domain';
import { milliseconds, millisecondsList, variable } from '@pasteflow/runtime';
import { z } from 'zod';

const retryDelays = millisecondsList().default([...defaultRetryPolicy.delaysMs]);
const retryJitter = milliseconds().default(defaultRetryPolicy.jitterMs);

/** Default: `defaultRetryPolicy`. */
export const uploadRetryEnv: z.ZodType<RetryPolicy> = z
  .object({ UPLOAD_RETRY_DELAYS_MS: retryDelays, UPLOAD_RETRY_JITTER_MS: retryJitter })
  .transform((env) => ({ delaysMs: env.UPLOAD_RETRY_DELAYS_MS, jitterMs: env.UPLOAD_RETRY_JITTER_MS }));

/** Default: `defaultRetryPolicy`. A job, unlike an upload, is given up after `MAX_JOB_LOSSES` losses. */
export const jobRetryEnv: z.ZodType<RetryPolicy> = z
  .object({ JOB_RETRY_DELAYS_MS: retryDelays, JOB_RETRY_JITTER_MS: retryJitter })
  .transform((env) => ({
    delaysMs: env.JOB_RETRY_DELAYS_MS,
    jitterMs: env.JOB_RETRY_JITTER_MS,
    maxLosses: MAX_JOB_LOSSES,
  }));

/**
 * The variable EXECUTION_LEASE_SECONDS, from 1 to 3600: a shorter lease cannot be renewed in time, and SQS
 * hides a message for 12 hours at most.
 */
export function leaseSeconds(): z.ZodType<number, string | undefined> {
  return variable('seconds from 1 to 3600, e.g. 6', (text) => {
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
    return value >= 1 && value <= 3600 ? value : undefined;
  }).default(DEFAULT_LEASE_SECONDS);
}
