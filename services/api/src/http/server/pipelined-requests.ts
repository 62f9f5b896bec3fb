import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Clients that pipeline send some tens of requests. 64 KiB, which Node parses at a time, hold a thousand. */
const MAX_WAITING = 100;

/**
 * Lets the requests of a connection begin one after the other. Node hands over each request as soon as its
 * headers have arrived, and keeps the answers in memory until the earlier ones are sent: one write of 64 KiB
 * could start a thousand requests.
 */
export class PipelinedRequests {
  readonly #last = new Map<Duplex, ServerResponse>();
  readonly #waiting = new WeakMap<Duplex, number>();

  /** The answer to the last request of the connection; undefined: no request waits for an answer. */
  pending(socket: Duplex): ServerResponse | undefined {
    return this.#last.get(socket);
  }

  /** Call it when an answer has closed: an idle connection keeps no request and no body. */
  leave(socket: Duplex, res: ServerResponse): void {
    if (this.#last.get(socket) === res) this.#last.delete(socket);
  }

  /** Calls `begin` when the earlier requests have been answered; never if the connection ends before. */
  take(req: IncomingMessage, res: ServerResponse, begin: () => void): void {
    const { socket } = req;
    const previous = this.#last.get(socket);
    this.#last.set(socket, res);
    if (previous === undefined || previous.closed) {
      begin();
      return;
    }
    const waiting = (this.#waiting.get(socket) ?? 0) + 1;
    this.#waiting.set(socket, waiting);
    if (waiting > MAX_WAITING) socket.destroy();
    previous.once('close', () => {
      this.#waiting.set(socket, (this.#waiting.get(socket) ?? 1) - 1);
      if (!socket.destroyed && !res.closed) begin();
    });
  }
}
