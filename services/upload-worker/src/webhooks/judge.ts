import { MAX_RETRY_AFTER_MS, storedReason } from '@pasteflow/domain';
import type { DeliverySettlement } from '@pasteflow/postgres';
import { type Answer, isOwnFailure, wordsOfFailure } from './post-event.ts';

/** How an attempt at a delivery ended, and what that says of its endpoint. */
export type Verdict = Pick<DeliverySettlement, 'outcome' | 'answered' | 'endpoint'>;

/** The attempt says nothing of the endpoint. */
export function withoutAnswer(outcome: Verdict['outcome']): Verdict {
  return { outcome, answered: null, endpoint: null };
}

export const interrupted: Verdict = withoutAnswer({ kind: 'interrupted' });

/** Nothing was sent, and nothing will be. */
export const endpointOff: Verdict = withoutAnswer({
  kind: 'failed',
  error: storedReason('endpoint_off', 'it was removed or switched off before this attempt'),
  isFinal: true,
});

/** @param text says of the endpoint why it did not take the event */
export function endpointFailed(text: string): Verdict {
  return {
    outcome: { kind: 'failed', error: storedReason('endpoint_failed', text) },
    answered: null,
    endpoint: 'fails',
  };
}

/** No status has come. */
export function judgeFailure(error: unknown): Verdict {
  if (isOwnFailure(error))
    return withoutAnswer({
      kind: 'postponed',
      error: storedReason('internal', 'the worker could open no connection'),
    });
  return endpointFailed(wordsOfFailure(error));
}

/** @param now milliseconds since the epoch */
export function judgeAnswer({ status, retryAfter }: Answer, now: number): Verdict {
  if (status >= 200 && status < 300)
    return { outcome: { kind: 'succeeded' }, answered: status, endpoint: 'works' };
  const error = storedReason('endpoint_failed', wordsOfStatus(status));
  if (status === 410)
    return { outcome: { kind: 'failed', error, isFinal: true }, answered: status, endpoint: 'gone' };
  const waitMs = status === 429 || status === 503 ? retryAfterMs(retryAfter, now) : null;
  return {
    outcome: { kind: 'failed', error, ...(waitMs !== null && { notBeforeMs: waitMs }) },
    answered: status,
    endpoint: 'fails',
  };
}

function wordsOfStatus(status: number): string {
  if (status === 410) return 'answered 410, so that it is gone for ever';
  if (status >= 300 && status < 400) return `answered ${status}, and redirects are not followed`;
  return `answered ${status}`;
}

/** The date of RFC 9110, as all programs must write it. Date.parse alone would read much more as a date. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** @returns milliseconds, at most `MAX_RETRY_AFTER_MS`; null: the header is missing, or says nothing */
function retryAfterMs(retryAfter: string | undefined, now: number): number | null {
  if (retryAfter === undefined) return null;
  const waitMs = /^\d{1,15}$/.test(retryAfter)
    ? Number(retryAfter) * 1000
    : HTTP_DATE.test(retryAfter)
      ? Date.parse(retryAfter) - now
      : NaN;
  return Number.isNaN(waitMs) ? null : Math.min(MAX_RETRY_AFTER_MS, Math.max(0, waitMs));
}
