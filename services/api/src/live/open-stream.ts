import type { Request, Response } from 'express';
import type { Subscription } from '@pasteflow/postgres';
import { callerOf } from '../identity/caller-of.ts';
import type { Audience } from '../timeline/timeline-view.ts';
import { contextOf } from '../http/request/request-context.ts';
import { RequestError } from '../http/errors/request-error.ts';
import { EventStream, positionOf } from './event-stream.ts';
import type { Live } from './live.ts';

/** The paste or job of a stream. */
export interface StreamSubject {
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
  const stream = new EventStream({ poller, heartbeat }, res, {
    kind,
    id,
    caller: callerOf(req),
    audience,
    position,
  });
  if (!poller.watch(stream)) {
    throw new RequestError('stream_unavailable', 'Too many clients wait at the moment. Try again shortly.');
  }
  contextOf(req).waitingSinceMs = performance.now();
  res.writeHead(200, headers);
  stream.begin();
}
