import type { CallOptions } from './call-options.ts';
import type { Job, Paste, Timeline } from './api-types.ts';
import { PasteflowConnectionError } from './errors.ts';
import { EventMessages, type EventMessage } from './event-messages.ts';
import { sleep } from './timing.ts';

/** Something that happened. Its `id` says how far one has read: `events(…, { after: id })` goes on behind it. */
export type LiveEvent<Status> =
  | {
      readonly type: 'transition';
      readonly id: string;
      readonly transition: Timeline['transitions'][number];
    }
  /** Of a job. */
  | {
      readonly type: 'progress';
      readonly id: string;
      readonly progress: number;
      readonly progress_message: string | null;
    }
  /** The last one. `status` null: it has expired or was deleted. */
  | { readonly type: 'end'; readonly id: string; readonly status: Status | null };

export type PasteEvent = LiveEvent<Paste['status']>;
export type JobEvent = LiveEvent<Job['status']>;

export interface EventsOptions extends CallOptions {
  /** The id of the last event that is known; without it, all from the beginning. */
  readonly after?: string | undefined;
}

/** As the server's, until it says something else. */
const RETRY_MS = 1000;

/**
 * Events until the end, each once: a stream that breaks off is opened again behind the last event that has come.
 * @param open makes a stream behind an event, or all of it; it tries again by itself what may be tried again
 * @param mostFailures how many streams in a row may break off before anything has come
 */
export async function* followEvents<Status extends string>(
  open: (after: string | undefined) => Promise<Response>,
  { after, signal }: EventsOptions,
  mostFailures: number,
): AsyncGenerator<LiveEvent<Status>, void, undefined> {
  let last = after;
  let retryMs = RETRY_MS;
  for (let failures = 1; failures <= mostFailures; failures += 1) {
    signal?.throwIfAborted();
    const { body } = await open(last);
    if (body === null) return; // 204: the last event is known
    const messages = new EventMessages(body);
    const reading = messages.read(signal);
    try {
      for (;;) {
        const message = await reading.next().catch(() => null); // it broke off
        signal?.throwIfAborted();
        if (message === null || message.done === true) break;
        const event = toEvent<Status>(message.value);
        if (event === null) continue;
        last = event.id;
        yield event;
        if (event.type === 'end') return;
      }
    } finally {
      await reading.return();
    }
    if (messages.hasBegun) failures = 0;
    retryMs = messages.retryMs ?? retryMs;
    await sleep(retryMs, signal);
  }
  throw new PasteflowConnectionError(`${mostFailures} streams of events broke off before they had begun`);
}

/** null: of a kind that this version of the client doesn't know. */
function toEvent<Status extends string>({ event: type, id, data }: EventMessage): LiveEvent<Status> | null {
  switch (type) {
    case 'transition':
      return { type, id, transition: JSON.parse(data) as Timeline['transitions'][number] };
    case 'progress':
      return { type, id, ...(JSON.parse(data) as { progress: number; progress_message: string | null }) };
    case 'end':
      return { type, id, ...(JSON.parse(data) as { status: Status | null }) };
    default:
      return null;
  }
}
