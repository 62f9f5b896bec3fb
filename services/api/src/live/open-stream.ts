import type { Request, Response } from 'express';
import type { Wanted } from '@pasteflow/postgres';
import { contextOf } from '../http/request/request-context.ts';
import { RequestError } from '../http/errors/request-error.ts';
import { EventStream } from './event-stream.ts';
import type { Live } from './live.ts';
import { positionOf } from './position.ts';

/** What a stream is about. */
export interface Streamed {
  readonly kind: Wanted['kind'];
  readonly id: string;
  /** Nothing more will come. */
  readonly settled: boolean;
}

/**
 * Answers with a stream of events. To whoever has had the last one 204: it keeps an EventSource from coming back.
 * @param find what the URL names, for this caller; rejects as it would for any other request
 * @throws RequestError stream_unavailable
 */
export async function openStream(
  { watch, heartbeatMs }: Live,
  req: Request,
  res: Response,
  find: () => Promise<Streamed>,
): Promise<void> {
  const position = positionOf(req);
  const { kind, id, settled } = await find();
  if (position.ended && settled) {
    res.status(204).end();
    return;
  }
  const headers = { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' };
  if (req.method === 'HEAD') {
    res.writeHead(200, headers).end();
    return;
  }
  const stream = new EventStream(watch, res, { kind, id, position, heartbeatMs });
  // What has changed since the look above is in the stream's first look.
  if (!watch.watch(stream, Infinity)) {
    throw new RequestError('stream_unavailable', 'No more streams here at the moment; try again shortly.');
  }
  contextOf(req).waitingSinceMs = performance.now();
  res.writeHead(200, headers);
  stream.begin();
}
