import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

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
export function eventId({ transition, progress, ended }: Position): string {
  return `${transition}${progress === null ? '' : `.${progress}`}${ended ? '.end' : ''}`;
}

/** The position in Last-Event-ID. Without the header, or with an id that was never sent: the start. */
export function positionOf({ headers }: IncomingMessage): Position {
  const [, transition, progress = null, end] = ID.exec(String(headers['last-event-id'] ?? '')) ?? [];
  if (transition === undefined) return START;
  return { transition: Number(transition), progress, ended: end !== undefined };
}

/** Includes a hash of the message, because the message may change while the number stays. */
export function progressKey({ percent, message }: { percent: number; message: string | null }): string {
  if (message === null) return String(percent);
  return `${percent}.${createHash('sha256').update(message).digest('hex').slice(0, 8)}`;
}
