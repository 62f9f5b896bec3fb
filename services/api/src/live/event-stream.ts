import type { Request, Response } from 'express';
import type { Snapshot, SnapshotTransition, Subscription } from '@pasteflow/postgres';
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { RequestError } from '../http/answers/request-error.ts';
import type { Caller } from '../http/callers/caller.ts';
import { contextOf } from '../http/request/request-context.ts';
import { callerOf } from '../http/callers/caller-of.ts';
import { type Audience, viewOfTransition } from './timeline-view.ts';
import type { ChangePoller, Watcher } from './change-poller.ts';
import type { Live, BeatingStream, Heartbeat } from './live.ts';

/** The paste or job of a stream. */
interface StreamSubject {
  readonly kind: Subscription['kind'];
  readonly id: string;
  /** No more events will follow. */
  readonly settled: boolean;
  readonly audience: Audience;
}

/**
 * Answers with a stream of events. A client that already has the last event gets 204, which stops an
 * EventSource from reconnecting.
 * @param find finds the paste or job of the URL for this caller; rejects like any other request
 * @throws RequestError stream_unavailable or rate_limited
 */
export async function openStream(
  { poller, heartbeat, places }: Live,
  req: Request,
  res: Response,
  find: () => Promise<StreamSubject>,
): Promise<void> {
  const position = positionOf(req);
  const { kind, id, settled, audience } = await find();
  if (position.ended && settled) {
    res.status(204).end();
    return;
  }
  const headers = { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' };
  if (req.method === 'HEAD') {
    res.writeHead(200, headers).end();
    return;
  }
  places.take(req, res, 'events');
  const subject = { kind, id, audience, caller: callerOf(req), position };
  const stream = new EventStream({ poller, heartbeat }, res, subject);
  if (!poller.watch(stream)) {
    throw new RequestError('stream_unavailable', 'Too many clients wait at the moment. Try again shortly.');
  }
  contextOf(req).waitingSinceMs = performance.now();
  res.writeHead(200, headers);
  stream.begin();
}

/**
 * How far a client has read: the last transition and the last progress that it received. The id of each event
 * contains the position, so that a client can continue with any copy of the api, misses nothing and receives
 * nothing twice.
 */
export interface Position {
  /** The id of the last transition; 0: none. */
  readonly transition: number;
  /** See progressKey; null: none. */
  readonly progress: string | null;
  /** The client has received the last event. */
  readonly ended: boolean;
}

const START: Position = { transition: 0, progress: null, ended: false };

const ID = /^(\d{1,15})(?:\.(\d{1,3}(?:\.[0-9a-f]{8})?))?(\.end)?$/;

/** `1204`, `1204.40` or `1204.40.1a2b3c4d`; the id of the last event ends with `.end`. */
function eventId({ transition, progress, ended }: Position): string {
  return `${transition}${progress === null ? '' : `.${progress}`}${ended ? '.end' : ''}`;
}

/** The position in Last-Event-ID. Without the header, or with an id that was never sent: the start. */
export function positionOf({ headers }: IncomingMessage): Position {
  const [, transition, progress = null, end] = ID.exec(String(headers['last-event-id'] ?? '')) ?? [];
  if (transition === undefined) return START;
  return { transition: Number(transition), progress, ended: end !== undefined };
}

/** Includes a hash of the message, because the message may change while the number stays. */
function progressKey({ percent, message }: { percent: number; message: string | null }): string {
  if (message === null) return String(percent);
  return `${percent}.${createHash('sha256').update(message).digest('hex').slice(0, 8)}`;
}

/** When EventSource reconnects after a broken stream. */
const RETRY_MS = 1000;

/** Between 1 and 2 s, so that the clients of a stopping process don't all reconnect at the same moment. */
const stopRetryMs = (): number => Math.round(RETRY_MS * (1 + Math.random()));

/** A client that reads nothing for this many heartbeats is disconnected. */
const MAX_MISSED_HEARTBEATS = 2;

/**
 * A stream of Server-Sent Events for one paste or job: its past events, new ones as they happen, and the end.
 */
class EventStream implements Watcher, BeatingStream {
  readonly purpose = 'events';
  readonly kind: Subscription['kind'];
  readonly id: string;
  readonly caller: Caller;
  readonly #poller: ChangePoller;
  readonly #heartbeat: Heartbeat;
  readonly #res: ServerResponse;
  readonly #audience: Audience;
  #position: Position;
  /** The client reads slowly. Its further events are read from Postgres when it has read these. */
  #isFull = false;
  #missedHeartbeats = 0;
  #isOver = false;

  constructor(
    { poller, heartbeat }: Pick<Live, 'poller' | 'heartbeat'>,
    res: ServerResponse,
    {
      kind,
      id,
      caller,
      audience,
      position,
    }: Omit<StreamSubject, 'settled'> & {
      readonly caller: Caller;
      /** How far the client has read. */
      readonly position: Position;
    },
  ) {
    this.#poller = poller;
    this.#heartbeat = heartbeat;
    this.#res = res;
    this.kind = kind;
    this.id = id;
    this.caller = caller;
    this.#position = { ...position, ended: false };
    this.#audience = audience;
  }

  /** Call this after `watch`: starts the response, and sends the past events. */
  begin(): void {
    this.#res.once('close', () => this.#leave());
    if (this.#res.destroyed) {
      this.#leave();
      return;
    }
    this.#heartbeat.add(this);
    this.#write(`retry: ${RETRY_MS}\n\n`);
    this.#poller.readNow();
  }

  wants(): Pick<Subscription, 'after'> | null {
    return this.#isFull || this.#isOver ? null : { after: this.#position.transition };
  }

  onSnapshot(snapshot: Snapshot | null): void {
    if (this.#isOver) return;
    if (snapshot === null) {
      this.#end(null);
      return;
    }
    for (const transition of snapshot.transitions) this.#sendTransition(transition);
    if (!snapshot.complete) return;
    this.#sendProgress(snapshot);
    if (snapshot.gone) this.#end(null);
    else if (snapshot.settled) this.#end(snapshot.status);
  }

  /**
   * Closes the stream without an `end` event: the client reconnects to another process, with Last-Event-ID.
   */
  onStop(): void {
    if (this.#isOver) return;
    this.#write(`retry: ${stopRetryMs()}\n\n`);
    this.#close();
  }

  /** Without an `end` event: the client reconnects, and the answer says why it may no longer read. */
  refuse(): void {
    if (!this.#isOver) this.#close();
  }

  /** The read may include earlier transitions, for another client of the same paste or job. */
  #sendTransition(transition: SnapshotTransition): void {
    const { id } = transition;
    if (id <= this.#position.transition) return;
    this.#position = { ...this.#position, transition: id };
    this.#send('transition', viewOfTransition(transition, this.#audience));
  }

  #sendProgress({ progress }: Snapshot): void {
    if (progress === null) return;
    const key = progressKey(progress);
    if (key === (this.#position.progress ?? '0')) return;
    this.#position = { ...this.#position, progress: key };
    this.#send('progress', { progress: progress.percent, progress_message: progress.message });
  }

  #end(status: string | null): void {
    this.#position = { ...this.#position, ended: true };
    this.#send('end', { status });
    this.#close();
  }

  #send(event: string, data: object): void {
    this.#write(`event: ${event}\nid: ${eventId(this.#position)}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  #write(text: string): void {
    if (this.#res.write(text) || this.#isFull) return;
    this.#isFull = true;
    this.#res.once('drain', () => {
      this.#isFull = false;
      this.#missedHeartbeats = 0;
      this.#poller.readNow();
    });
  }

  beat(): void {
    if (this.#isFull) {
      this.#missedHeartbeats += 1;
      if (this.#missedHeartbeats === MAX_MISSED_HEARTBEATS) this.#res.destroy();
      return;
    }
    this.#write(':\n\n');
  }

  #close(): void {
    this.#leave();
    this.#res.end();
  }

  #leave(): void {
    this.#isOver = true;
    this.#heartbeat.remove(this);
    this.#poller.unwatch(this);
  }
}
