import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/**
 * How far a client has read, as it stands in the id of each event: the last transition and the last progress before it or in it. So a client that
 * comes back with it, to whichever copy of the api, is told what it doesn't know, and nothing twice.
 */
export interface Position {
  /** Of the last transition; 0: none. */
  readonly transition: number;
  /** As progressKey makes it; null: none. */
  readonly progress: string | null;
  /** It has had the last event. */
  readonly ended: boolean;
}

const START: Position = { transition: 0, progress: null, ended: false };

const ID = /^(\d{1,15})(?:\.(\d{1,3}(?:\.[0-9a-f]{8})?))?(\.end)?$/;

/** `1204`, `1204.40`, `1204.40.1a2b3c4d`, and with `.end` the last one. */
export function eventId({ transition, progress, ended }: Position): string {
  return `${transition}${progress === null ? '' : `.${progress}`}${ended ? '.end' : ''}`;
}

/** The position of Last-Event-ID; without one, or with one that was never sent, the beginning. */
export function positionOf({ headers }: IncomingMessage): Position {
  const [, transition, progress = null, end] = ID.exec(String(headers['last-event-id'] ?? '')) ?? [];
  if (transition === undefined) return START;
  return { transition: Number(transition), progress, ended: end !== undefined };
}

/** The message is a part of it, since it may change while the number stays. */
export function progressKey({ percent, message }: { percent: number; message: string | null }): string {
  if (message === null) return String(percent);
  return `${percent}.${createHash('sha256').update(message).digest('hex').slice(0, 8)}`;
}
