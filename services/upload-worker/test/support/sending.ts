import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { expect } from '@jest/globals';
import type { ClaimedDelivery } from '@pasteflow/postgres';
import type { publicLookup } from '@pasteflow/service-kit';
import { createPostEvent } from '../../src/webhooks/post-event.ts';
import { sendEvent } from '../../src/webhooks/send-event.ts';
import { useRawServers } from './raw-servers.ts';
import { WEBHOOK_KEY } from './webhooks.ts';

export const deliveryTo = (url: string): ClaimedDelivery => ({
  executionId: randomUUID(),
  attempt: 1,
  losses: 0,
  deliveryId: randomUUID(),
  endpointId: randomUUID(),
  turnOf: randomUUID(),
  eventId: randomUUID(),
  type: 'paste.stored',
  about: 'abc',
  happenedAt: new Date(),
  endpoint: { url, generation: 1, rotatedAt: null },
});

export const none = new AbortController().signal;

export interface Sending {
  readonly listed?: boolean;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly lookup?: ReturnType<typeof publicLookup>;
}

export async function sendTo(url: string, { listed = true, signal = none, ...post }: Sending = {}) {
  const origins = new Set(listed ? [new URL(url).origin] : []);
  const verdict = await sendEvent(
    { key: WEBHOOK_KEY, origins },
    createPostEvent(post),
    deliveryTo(url),
    signal,
  );
  expect(JSON.stringify(verdict)).not.toMatch(/127\.0\.0\.1|hooks\.example|secret-path/);
  return verdict;
}

/** Answers with these bytes when the request has come, and leaves the connection open. */
export const answering =
  (bytes: string | Buffer) =>
  (socket: Socket): void => {
    socket.once('data', () => socket.write(bytes));
  };

/** Sends to a server of the test. */
export function useServers() {
  const serve = useRawServers();
  const sendToServer = async (serving: (socket: Socket) => void, sending?: Sending) =>
    await sendTo(`http://${await serve(serving)}/secret-path`, sending);
  return { serve, sendToServer };
}

export const works = (answered: number) => ({ outcome: { kind: 'succeeded' }, answered, endpoint: 'works' });
export const fails = (text: string, answered: number | null = null) => ({
  outcome: { kind: 'failed', error: `endpoint failed: ${text}` },
  answered,
  endpoint: 'fails',
});
