import type { RetryPolicy } from './retry.ts';

interface WebhookEvent {
  /** Whose endpoints are told: those of the owner of the paste, request or job, or those of the operators. */
  readonly audience: 'owner' | 'operators';
  /** What `data` in the body of a delivery names. */
  readonly about: 'short_code' | 'job_id' | 'request_id';
}

/** What an endpoint of a webhook can be told. Each happens at most once for a paste, deposit, job or report. */
export const webhookEvents = {
  /** The content is in S3. */
  'paste.stored': { audience: 'owner', about: 'short_code' },
  /** Every attempt at the upload has failed. */
  'paste.failed': { audience: 'owner', about: 'short_code' },
  /** Somebody has read a paste that is deleted when it is read. */
  'paste.read': { audience: 'owner', about: 'short_code' },
  /** The owner or an operator has deleted the paste, and the cleanup has claimed it. */
  'paste.deleted': { audience: 'owner', about: 'short_code' },
  /** The paste has expired, and the cleanup has claimed it. */
  'paste.expired': { audience: 'owner', about: 'short_code' },
  /** Somebody has deposited a secret that the owner has asked for. */
  'deposit.arrived': { audience: 'owner', about: 'request_id' },
  /** A job is completed, partial or failed. */
  'job.ended': { audience: 'owner', about: 'job_id' },
  /** Somebody has reported a paste. */
  'report.opened': { audience: 'operators', about: 'short_code' },
  /** Every attempt at the upload of any paste has failed. */
  'upload.failed': { audience: 'operators', about: 'short_code' },
} as const satisfies Readonly<Record<string, WebhookEvent>>;

export type WebhookEventType = keyof typeof webhookEvents;

const webhookEventTypes = Object.keys(webhookEvents) as readonly WebhookEventType[];

export function webhookEventsFor(audience: WebhookEvent['audience']): readonly WebhookEventType[] {
  return webhookEventTypes.filter((type) => webhookEvents[type].audience === audience);
}

/** Of one user, or of the operators together. */
export const MAX_WEBHOOKS = 10;

export const MAX_WEBHOOK_URL_CHARACTERS = 2000;

/** After this long without a delivery that succeeds, while others fail, an endpoint is switched off. */
export const WEBHOOK_FAILING_SECONDS = 3 * 24 * 60 * 60;

/** For this long after a rotation, deliveries are signed with the secret before as well. */
export const WEBHOOK_ROTATION_SECONDS = 24 * 60 * 60;

/** The wait that an endpoint can ask for by `Retry-After`, at most. */
export const MAX_RETRY_AFTER_MS = 24 * 60 * 60 * 1000;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Eight attempts in about 23 hours, so that an endpoint can be down for a day. A delivery always reaches an end. */
export const webhookRetryPolicy: RetryPolicy = {
  delaysMs: [5000, MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 6 * HOUR_MS, 14 * HOUR_MS],
  jitterMs: 1000,
  jitterShare: 0.1,
  maxLosses: 6,
};
