import type { IncomingMessage } from 'node:http';
import type { Metrics } from '@pasteflow/runtime';
import { RequestError } from '../answers/request-error.ts';
import { callerKeyOf } from '../callers/caller.ts';
import { callerOf } from '../callers/caller-of.ts';
import { SharedBudget, type Refusal } from './shared-budget.ts';

/**
 * Content of up to this size is read from S3 as a whole before the answer begins, so that a client that
 * reads slowly holds memory instead of a connection to S3. Most pastes are smaller.
 */
export const MAX_WHOLE_BYTES = 256 * 1024;

export interface DownloadLimits {
  /** Bytes of contents of up to 256 KiB, and as many of longer ones that are held. One caller gets half. */
  readonly maxBytes: number;
  /** Contents that are streamed at the same time. */
  readonly maxStreams: number;
  readonly maxStreamsPerCaller: number;
  /** For tests. */
  readonly minHeldMs?: number | undefined;
}

/** What a download holds until its answer has been sent. */
export interface Download {
  readonly kind: 'whole' | 'stream';
  /** Call it when the answer has ended, however it ended. */
  release(): void;
}

/** A long content in memory. Its answer may be ended while it is sent: the reader can repeat the reveal. */
export interface HeldDownload extends Pick<Download, 'release'> {
  /** @param end cuts the connection */
  sending(end: () => void): void;
}

interface RepeatableAnswer {
  readonly caller: string;
  /** The paste and the hash of the key of its reader. */
  readonly reader: string;
  readonly startedAt: number;
  readonly end: () => void;
}

/** An answer that has run for less than this is not ended for the reader of another paste. */
const MIN_HELD_MS = 10_000;

/** Seconds. Most downloads take less than a second. */
const RETRY_AFTER = '1';

/** The contents that this process is sending: the memory and the connections to S3 that they hold. */
export class DownloadBudget {
  readonly #bytes: SharedBudget;
  readonly #held: SharedBudget;
  readonly #streams: SharedBudget;
  readonly #refusals;
  readonly #minHeldMs: number;
  /** The oldest first. */
  readonly #repeatable = new Set<RepeatableAnswer>();

  constructor(
    { maxBytes, maxStreams, maxStreamsPerCaller, minHeldMs = MIN_HELD_MS }: DownloadLimits,
    metrics: Metrics,
  ) {
    this.#minHeldMs = minHeldMs;
    this.#bytes = new SharedBudget({ total: maxBytes, perCaller: maxBytes / 2 });
    this.#held = new SharedBudget({ total: maxBytes, perCaller: maxBytes / 2 });
    this.#streams = new SharedBudget({ total: maxStreams, perCaller: maxStreamsPerCaller });
    const shown = (name: string, help: string, budget: SharedBudget): void =>
      metrics.computed({ name, help, type: 'gauge', labels: ['kind'] }, () => [
        { labels: { kind: 'in_flight' }, value: budget.used },
        { labels: { kind: 'limit' }, value: budget.limit },
      ]);
    shown(
      'http_download_bytes',
      'Bytes of contents of up to 256 KiB that are in memory as a whole while they are sent, and their limit.',
      this.#bytes,
    );
    shown(
      'http_held_bytes',
      'Bytes of longer contents that are in memory as a whole while they are revealed, and their limit.',
      this.#held,
    );
    shown(
      'http_download_streams',
      'Contents that are streamed from S3, each over a connection, and their limit.',
      this.#streams,
    );
    this.#refusals = metrics.counter({
      name: 'http_downloads_refused_total',
      help: 'Downloads that were refused because too many were running: of all callers, or of this one.',
      labels: ['kind', 'of'],
    });
  }

  /**
   * @param weight the bytes of memory for each byte of content that is in memory as a whole
   * @throws RequestError overloaded or rate_limited
   */
  begin(req: IncomingMessage, bytes: number, weight = 1): Download {
    if (bytes <= MAX_WHOLE_BYTES) return this.#take(req, 'whole', this.#bytes, bytes * weight);
    return this.#take(req, 'stream', this.#streams, 1);
  }

  /**
   * For content of any size that is in memory as a whole. Long ones share memory of their own, so that
   * slow readers of them don't stop the readers of short contents. Instead of a refusal, the oldest answers
   * that are being sent are ended: of this caller, otherwise of all. The earlier answer to the same reader is
   * ended in any case.
   * @throws RequestError overloaded or rate_limited
   */
  hold(
    req: IncomingMessage,
    bytes: number,
    { weight = 1, reader }: { readonly weight?: number; readonly reader: string },
  ): HeldDownload {
    if (bytes <= MAX_WHOLE_BYTES) {
      const short = this.begin(req, bytes, weight);
      return { release: () => short.release(), sending: () => {} };
    }
    const caller = callerKeyOf(callerOf(req));
    for (const each of this.#repeatable) if (each.reader === reader) each.end();
    const taken = this.#take(req, 'held', this.#held, bytes * weight, (refusal) =>
      this.#endOldest(caller, refusal),
    );
    let answer: RepeatableAnswer | undefined;
    const release = (): void => {
      if (answer !== undefined) this.#repeatable.delete(answer);
      taken.release();
    };
    const sending: HeldDownload['sending'] = (cut) => {
      const end = (): void => {
        release();
        cut();
      };
      answer = { caller, reader, startedAt: performance.now(), end };
      this.#repeatable.add(answer);
    };
    return { release, sending };
  }

  /** @returns whether an answer was ended */
  #endOldest(caller: string, refusal: Refusal): boolean {
    const before = performance.now() - this.#minHeldMs;
    const old = [...this.#repeatable].filter(({ startedAt }) => startedAt <= before);
    const oldest = old.find((each) => each.caller === caller) ?? (refusal === 'total' ? old[0] : undefined);
    oldest?.end();
    return oldest !== undefined;
  }

  #take<Kind extends string>(
    req: IncomingMessage,
    kind: Kind,
    budget: SharedBudget,
    amount: number,
    makesRoom: (refusal: Refusal) => boolean = () => false,
  ): { readonly kind: Kind; release(): void } {
    const share = budget.open(callerKeyOf(callerOf(req)));
    let refusal = share.raiseTo(amount);
    while (refusal !== null && makesRoom(refusal)) refusal = share.raiseTo(amount);
    if (refusal === null) return { kind, release: () => share.release() };
    this.#refusals.inc({ kind, of: refusal });
    if (refusal === 'total') {
      throw new RequestError(
        'overloaded',
        'Too many pastes are being downloaded at the moment. Send the request again later.',
      );
    }
    throw new RequestError(
      'rate_limited',
      'You are downloading too many pastes at the same time. Send this request again when others have ended.',
      { headers: { 'Retry-After': RETRY_AFTER } },
    );
  }
}
