import type { ServerResponse } from 'node:http';
import type { Seen, SeenTransition, Wanted } from '@pasteflow/postgres';
import type { ChangeWatch, Watcher } from './change-watch.ts';
import { eventId, progressKey, type Position } from './position.ts';

export interface EventStreamOptions {
  readonly kind: Wanted['kind'];
  readonly id: string;
  /** What the client has had already. */
  readonly position: Position;
  readonly heartbeatMs: number;
}

/** Proxies cut connections on which nothing moves; 60 s is common, 30 s is not rare. */
export const HEARTBEAT_MS = 15_000;

/** For EventSource: when to come back after a stream that broke off. */
const RETRY_MS = 1000;

/** What clients of a stopping process wait: between one and two seconds, so that they don't come back together. */
const stopRetryMs = (): number => Math.round(RETRY_MS * (1 + Math.random()));

/** How many heartbeats may pass while a client reads nothing. */
const MAX_MISSED = 2;

/** A stream of Server-Sent Events about one paste or job: what was, what comes, and an end. */
export class EventStream implements Watcher {
  readonly purpose = 'events';
  readonly kind: Wanted['kind'];
  readonly id: string;
  readonly #watch: ChangeWatch;
  readonly #res: ServerResponse;
  readonly #heartbeatMs: number;
  #position: Position;
  #heartbeat: NodeJS.Timeout | undefined;
  #expiresAt: Date | null = null;
  /** The client reads more slowly than there is news: the rest stays in Postgres until it has read. */
  #isFull = false;
  #missed = 0;
  #isOver = false;

  constructor(
    watch: ChangeWatch,
    res: ServerResponse,
    { kind, id, position, heartbeatMs }: EventStreamOptions,
  ) {
    this.#watch = watch;
    this.#res = res;
    this.kind = kind;
    this.id = id;
    this.#position = { ...position, ended: false };
    this.#heartbeatMs = heartbeatMs;
  }

  /** Once it is watching: begins the answer, and tells what has been so far. */
  begin(): void {
    this.#res.once('close', () => this.#leave());
    if (this.#res.destroyed) {
      this.#leave();
      return;
    }
    this.#heartbeat = setInterval(() => this.#beat(), this.#heartbeatMs);
    this.#write(`retry: ${RETRY_MS}\n\n`);
    this.#watch.wake(this);
  }

  wants(): Pick<Wanted, 'after' | 'row'> | null {
    return this.#isFull || this.#isOver ? null : { after: this.#position.transition, row: 'never' };
  }

  seen(seen: Seen | null): void {
    if (this.#isOver) return;
    if (seen === null) {
      this.#end(null);
      return;
    }
    this.#expiresAt = seen.expiresAt;
    for (const transition of seen.transitions) this.#tell(transition);
    if (!seen.complete) return;
    this.#tellProgress(seen);
    if (seen.gone) this.#end(null);
    else if (seen.settled) this.#end(seen.status);
  }

  /** The client needn't know: it is told when Postgres is back. */
  failed(): void {}

  /** Ends without an end: the client comes back, to another process, with the id that it has. */
  stop(): void {
    if (this.#isOver) return;
    this.#write(`retry: ${stopRetryMs()}\n\n`);
    this.#close();
  }

  /** Others on the same paste or job may have asked for more than this one needs. */
  #tell({ id, machine, entity, from, to, at, actor, reason }: SeenTransition): void {
    if (id <= this.#position.transition) return;
    this.#position = { ...this.#position, transition: id };
    this.#send('transition', { machine, entity, from, to, at: at.toISOString(), actor, reason });
  }

  #tellProgress({ progress }: Seen): void {
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
      this.#missed = 0;
      this.#watch.wake(this);
    });
  }

  #beat(): void {
    if (this.#isFull) {
      this.#missed += 1;
      if (this.#missed === MAX_MISSED) this.#res.destroy();
      return;
    }
    this.#write(':\n\n');
    // Nothing changes in Postgres when its time comes; whether it has come is Postgres' to say.
    if (this.#expiresAt !== null && this.#expiresAt.getTime() <= Date.now()) this.#watch.wake(this);
  }

  #close(): void {
    this.#leave();
    this.#res.end();
  }

  #leave(): void {
    this.#isOver = true;
    clearInterval(this.#heartbeat);
    this.#watch.unwatch(this);
  }
}
