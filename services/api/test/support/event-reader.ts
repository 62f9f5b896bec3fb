import { until } from './until.ts';

export interface SentEvent {
  readonly event: string;
  readonly id: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A client of an event stream, which keeps the events that it received. */
export interface EventReader {
  readonly response: Response;
  readonly events: SentEvent[];
  /** One word for each event: `PENDING→RUNNING`, `40 %`, `end PROCESSED`. */
  words(): string[];
  /** The heartbeats so far. */
  readonly beats: number;
  /** The last reconnection time from the server, in ms. */
  readonly retries: number[];
  /** Resolves when the stream is over: `ended` by the server, or `broken`. */
  readonly over: Promise<'ended' | 'broken'>;
  /** Waits for this number of events. */
  has(count: number): Promise<void>;
  /** Disconnects; resolves when nothing more can arrive. */
  leave(): Promise<void>;
}

/** @throws when the answer is no stream */
export async function readEvents(url: string, headers: Record<string, string> = {}): Promise<EventReader> {
  const leaving = new AbortController();
  const response = await fetch(url, { headers, signal: leaving.signal });
  const type = response.headers.get('content-type');
  if (type !== 'text/event-stream')
    throw new Error(`${response.status} with ${type}: ${await response.text()}`);
  const events: SentEvent[] = [];
  const retries: number[] = [];
  let beats = 0;
  const take = (block: string): void => {
    const fields = new Map(
      block.split('\n').map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon), line.slice(colon + 1).trim()] as const;
      }),
    );
    const [event, id, data, retry] = ['event', 'id', 'data', 'retry'].map((name) => fields.get(name));
    if (retry !== undefined) retries.push(Number(retry));
    else if (event === undefined) beats += 1;
    else events.push({ event, id: id!, data: JSON.parse(data!) as SentEvent['data'] });
  };
  const read = async (): Promise<'ended' | 'broken'> => {
    let rest = '';
    try {
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
        const blocks = (rest + chunk).split('\n\n');
        rest = blocks.pop()!;
        blocks.forEach(take);
      }
      return 'ended';
    } catch {
      return 'broken';
    }
  };
  const over = read();
  return {
    response,
    events,
    words: () => events.map(inAWord),
    get beats() {
      return beats;
    },
    retries,
    over,
    has: async (count) => {
      await until(
        () => events.map(inAWord),
        (words) => words.length >= count,
      );
    },
    leave: async () => {
      leaving.abort();
      await over;
    },
  };
}

function inAWord({ event, data }: SentEvent): string {
  if (event === 'transition') return `${String(data.from)}→${String(data.to)}`;
  if (event === 'progress')
    return [`${String(data.progress)} %`, data.progress_message].filter(Boolean).join(' ');
  return `${event} ${String(data.status)}`;
}
