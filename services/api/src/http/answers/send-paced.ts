import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** `incomplete`: the client has disconnected, or the source has failed. */
export type SendOutcome = 'sent' | 'incomplete' | 'too_slow';

export interface SendOptions {
  /** Until the connection of a client that takes less is cut; 0: never. */
  readonly minBytesPerSecond: number;
  /** A stream whose client takes this fraction of the minimum rate is not cut. Default: 1. */
  readonly patience?: number;
  /** For tests: how often a client that doesn't read is looked at, and the credit that it begins with. */
  readonly tickMs?: number;
  readonly maxCreditMs?: number;
}

const TICK_MS = 1000;

/** The source of a stream that sends nothing for this long, while the client waits for it, has failed. */
const SOURCE_STALL_MS = 30_000;

/** Sends an answer that is in memory, whose headers are set. */
export async function sendWhole(
  content: Buffer,
  res: ServerResponse,
  { minBytesPerSecond, tickMs = TICK_MS, maxCreditMs }: SendOptions,
): Promise<SendOutcome> {
  if (res.destroyed) return 'incomplete';
  const pace = new Pace(minBytesPerSecond, maxCreditMs);
  let outcome: SendOutcome = 'incomplete';
  const closed = new Promise<void>((resolve) => res.once('close', resolve));
  const timer = setInterval(() => {
    if (pace.waited(tickMs)) return;
    outcome = 'too_slow';
    res.destroy();
  }, tickMs);
  res.once('finish', () => (outcome = 'sent')).end(content);
  await closed;
  clearInterval(timer);
  return outcome;
}

/**
 * Streams a source into an answer whose headers are set. When the source fails, the connection is cut, so
 * that the client sees an incomplete transfer. In the end the source is consumed or destroyed.
 */
export async function sendStream(
  source: Readable,
  res: ServerResponse,
  { minBytesPerSecond, patience = 1, tickMs = TICK_MS, maxCreditMs = PACE_WINDOW_MS }: SendOptions,
): Promise<SendOutcome> {
  // A kernel takes bytes in the same steps at any rate: a slower client needs more time for each.
  const pace = new Pace(minBytesPerSecond / patience, maxCreditMs * patience);
  let outcome: SendOutcome = 'sent';
  let silentMs = 0;
  const timer = setInterval(() => {
    if (!hasUnreadBytes(res)) {
      silentMs += tickMs;
      if (silentMs > SOURCE_STALL_MS) source.destroy(new Error('The source of the content sends nothing.'));
    } else if (!pace.waited(tickMs)) {
      outcome = 'too_slow';
      res.destroy();
    }
  }, tickMs);
  // The pipeline notices that the client has disconnected only at the next chunk.
  res.once('close', () => source.destroy());
  try {
    await pipeline(
      source,
      (chunks: AsyncIterable<Buffer>) =>
        counted(chunks, (bytes) => {
          silentMs = 0;
          pace.took(bytes);
        }),
      res,
    );
  } catch {
    if (outcome === 'sent') outcome = 'incomplete';
  } finally {
    clearInterval(timer);
  }
  return outcome;
}

/** Smaller than what arrives from S3 at a time, so that a low minimum rate can be measured. */
const PIECE_BYTES = 16 * 1024;

/** Passes on each piece, and then reports that the client's connection has taken it. */
async function* counted(
  chunks: AsyncIterable<Buffer>,
  onTaken: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    for (let start = 0; start < chunk.length; start += PIECE_BYTES) {
      const piece = chunk.subarray(start, start + PIECE_BYTES);
      yield piece;
      onTaken(piece.length);
    }
  }
}

function hasUnreadBytes(res: ServerResponse): boolean {
  return res.writableNeedDrain || (res.writableEnded && !res.writableFinished);
}

/**
 * The minimum rate of a client that reads an answer. A client begins with the credit of a minute. While it
 * has unread bytes, time uses up credit, and each byte that it takes earns some. The time is so long because
 * a kernel buffers up to 4 MiB: a steady reader takes bytes from this process in steps of about 1 MiB.
 */
export class Pace {
  readonly #bytesPerMs: number;
  readonly #maxCreditMs: number;
  #creditMs: number;

  /** @param minBytesPerSecond 0: no minimum */
  constructor(minBytesPerSecond: number, maxCreditMs: number = PACE_WINDOW_MS) {
    this.#bytesPerMs = minBytesPerSecond / 1000;
    this.#maxCreditMs = maxCreditMs;
    this.#creditMs = maxCreditMs;
  }

  took(bytes: number): void {
    this.#creditMs = Math.min(this.#maxCreditMs, this.#creditMs + bytes / this.#bytesPerMs);
  }

  /** @returns false when the client is too slow */
  waited(ms: number): boolean {
    if (this.#bytesPerMs === 0) return true;
    this.#creditMs -= ms;
    return this.#creditMs > 0;
  }
}

const PACE_WINDOW_MS = 60_000;
