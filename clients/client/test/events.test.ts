import type { ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { EventMessages } from '../src/events.ts';
import { JOB_ID } from './support/job.ts';
import { answer, problem, reset, type Handler } from './support/scripted-server.ts';
import { useServer } from './support/server.ts';

const bed = useServer();

const CODE = 'q7Zk2Lm9Xa';
const transition = (from: string, to: string) => ({
  machine: 'paste_upload',
  entity: JOB_ID,
  from,
  to,
  at: '2026-11-21T12:00:00.000Z',
  actor: 'worker',
  reason_class: null,
  reason: null,
});
const message = (event: string, id: string, data: object): string =>
  `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
const [claimed, progressed, ended] = [
  message('transition', '7', transition('PENDING', 'RUNNING')),
  message('progress', '7.40', { progress: 40, progress_message: 'two' }),
  message('end', '9.40.end', { status: 'completed' }),
];

/** Sends these chunks and then what follows, with a short reconnection delay. */
function stream(
  chunks: readonly string[],
  then: (res: ServerResponse) => void = (res) => res.end(),
): Handler {
  return async (_req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const chunk of ['retry: 1\n\n', ...chunks])
      await new Promise<void>((sent) => res.write(chunk, () => sent()));
    then(res);
  };
}

const breakOff = (res: ServerResponse): void => void res.socket?.resetAndDestroy();
const lastIds = () => bed.server.requests.map(({ headers }) => headers['last-event-id']);

async function all<T>(events: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const event of events) found.push(event);
  return found;
}

describe('events', () => {
  it('arrive as they are sent, until the end', async () => {
    bed.server.script(stream([claimed, ':\n\n', progressed, ended]));
    expect(await all(bed.client({ token: 'secret' }).jobs.events(JOB_ID))).toEqual([
      { type: 'transition', id: '7', transition: transition('PENDING', 'RUNNING') },
      { type: 'progress', id: '7.40', progress: 40, progress_message: 'two' },
      { type: 'end', id: '9.40.end', status: 'completed' },
    ]);
    expect(bed.server.requests).toMatchObject([
      { path: `/v1/jobs/${JOB_ID}/events`, headers: { authorization: 'Bearer secret' } },
    ]);
  });

  it('continue after the last one when the stream ends, breaks off or cannot be opened', async () => {
    bed.server.script(
      stream([claimed]),
      reset,
      problem(503, 'stream_unavailable', { 'retry-after': '0' }),
      stream([progressed], breakOff),
      stream([]),
      stream([ended]),
    );
    const ids = (await all(bed.client().pastes.events(CODE))).map(({ id }) => id);
    expect(ids).toEqual(['7', '7.40', '9.40.end']);
    expect(lastIds()).toEqual([undefined, '7', '7', '7', '7.40', '7.40']);
  });

  it('start after a known event, and there are none after the last event', async () => {
    bed.server.script(stream([ended]));
    expect(await all(bed.client().pastes.events(CODE, { after: '7.40' }))).toHaveLength(1);
    bed.server.script(answer(204));
    expect(await all(bed.client().pastes.events(CODE, { after: '9.40.end' }))).toEqual([]);
    expect(lastIds()).toEqual(['9.40.end']);
  });

  it('skip types that this version does not know', async () => {
    bed.server.script(stream([message('news', '8', {}), ended]));
    expect(await all(bed.client().pastes.events(CODE))).toHaveLength(1);
  });

  it('end with an error when the server refuses the request', async () => {
    bed.server.script(stream([claimed]), problem(410, 'paste_gone'));
    const events = bed.client().pastes.events(CODE);
    expect((await events.next()).value).toMatchObject({ id: '7' });
    await expect(events.next()).rejects.toMatchObject({ status: 410, code: 'paste_gone' });
  });

  it('end with an error when streams repeatedly break off before the first byte', async () => {
    bed.server.script((_req, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      setImmediate(() => breakOff(res));
    });
    const events = all(bed.client({ retry: { maxTries: 1 } }).pastes.events(CODE));
    await expect(events).rejects.toMatchObject({ name: 'PasteflowConnectionError' });
  });

  it('end with the reason of an AbortSignal, and close the connection when the reader stops', async () => {
    const controller = new AbortController();
    const reason = new Error('the user has left');
    const closed = Promise.withResolvers<void>();
    bed.server.script(stream([claimed], (res) => res.once('close', closed.resolve)));
    const aborted = bed.client().pastes.events(CODE, { signal: controller.signal });
    await aborted.next();
    const next = aborted.next();
    controller.abort(reason);
    await expect(next).rejects.toBe(reason);
    await closed.promise;

    const left = Promise.withResolvers<void>();
    bed.server.script(stream([claimed], (res) => res.once('close', left.resolve)));
    for await (const event of bed.client().pastes.events(CODE)) if (event.type === 'transition') break;
    await left.promise;
  });
});

describe('the parser of events', () => {
  const read = async (...chunks: readonly Uint8Array<ArrayBuffer>[]) =>
    await all(new EventMessages(ReadableStream.from(chunks)).read(undefined));

  it('accepts a body that is cut at any byte', async () => {
    const whole = Buffer.from(
      `: hello\n\nevent: a\nid: 1\ndata: {"x": "ä: b"}\n\nid: 2\r\nevent:b\r\ndata: one\r\ndata: two\r\n\r\n`,
    );
    const expected = [
      { event: 'a', id: '1', data: '{"x": "ä: b"}' },
      { event: 'b', id: '2', data: 'one\ntwo' },
    ];
    expect(await read(whole)).toEqual(expected);
    expect(await read(...Array.from(whole, (byte) => Uint8Array.of(byte)))).toEqual(expected);
  });

  it('drops an incomplete message at the end', async () => {
    expect(await read(Buffer.from('event: a\nid: 1\ndata: 1\n'))).toEqual([]);
  });

  it('ends when nothing arrives for too long', async () => {
    const cancelled = Promise.withResolvers<void>();
    const body = new ReadableStream<Uint8Array>({ cancel: () => cancelled.resolve() });
    expect(await all(new EventMessages(body, { silenceMs: 5 }).read(undefined))).toEqual([]);
    await cancelled.promise;
  });
});
