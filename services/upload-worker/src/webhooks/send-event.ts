import { SpanKind, trace } from '@opentelemetry/api';
import { storedReason, webhookEvents } from '@pasteflow/domain';
import type { ClaimedDelivery } from '@pasteflow/postgres';
import { withSpan } from '@pasteflow/runtime';
import { readEndpointUrl, signatureHeaders, type WebhookSettings } from '@pasteflow/service-kit';
import {
  endpointFailed,
  endpointOff,
  interrupted,
  judgeAnswer,
  judgeFailure,
  withoutAnswer,
  type Verdict,
} from './judge.ts';
import type { PostEvent } from './post-event.ts';

/**
 * Sends the event of a delivery to its endpoint, signed. Never throws.
 * @param signal aborts the request when the attempt is over
 */
export async function sendEvent(
  { key, origins }: WebhookSettings,
  postEvent: PostEvent,
  delivery: ClaimedDelivery,
  signal: AbortSignal,
): Promise<Verdict> {
  const { endpoint: target, endpointId, eventId, type } = delivery;
  if (target === null) return endpointOff;
  if (signal.aborted) return interrupted;
  const body = bodyOf(delivery);
  if (body === null)
    return withoutAnswer({
      kind: 'failed',
      error: storedReason('internal', `This version has no event '${type}'.`),
    });
  // Read at each attempt, because an origin may have been taken from the list.
  const endpoint = readEndpointUrl(target.url, origins);
  if (typeof endpoint === 'string') return endpointFailed(`its URL ${endpoint}`);
  const headers = signatureHeaders(key, { endpointId, ...target }, { eventId, body, now: new Date() });
  // The span must not get the error, whose message names the host.
  return await withSpan('post event', { kind: SpanKind.CLIENT }, async () => {
    try {
      const answer = await postEvent(endpoint, { headers, body }, signal);
      trace.getActiveSpan()?.setAttribute('http.response.status_code', answer.status);
      return judgeAnswer(answer, Date.now());
    } catch (error) {
      return signal.aborted ? interrupted : judgeFailure(error);
    }
  });
}

/** No content and no title: what happened, when, and to what. @returns null: another release has recorded this event */
function bodyOf({ type, about, happenedAt }: ClaimedDelivery): string | null {
  if (!Object.hasOwn(webhookEvents, type)) return null;
  const data = { [webhookEvents[type].about]: about };
  return JSON.stringify({ type, timestamp: happenedAt.toISOString(), data });
}
