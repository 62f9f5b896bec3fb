import type { IncomingMessage } from 'node:http';
import type { Metrics } from '@pasteflow/runtime';
import { RequestError } from '../http/errors/request-error.ts';
import { limitKeyOf } from '../http/request/caller.ts';
import { callerOf } from '../identity/caller-of.ts';
import { SharedBudget, type BudgetShare } from './shared-budget.ts';

/**
 * The bytes of all bodies that this process is reading or working on. A body is counted before it is read,
 * and until its request has been handled: an insert holds the content until Postgres has answered.
 */
export class BodyBudget {
  readonly #budget: SharedBudget;
  readonly #shares = new WeakMap<IncomingMessage, BudgetShare>();
  readonly #refusals;

  constructor({ maxBytes, metrics }: { readonly maxBytes: number; readonly metrics: Metrics }) {
    this.#budget = new SharedBudget({ total: maxBytes, perCaller: maxBytes / 2 });
    metrics.computed(
      {
        name: 'http_body_bytes',
        help: 'Bytes of bodies in flight, weighted by the memory that they take, and their limit.',
        type: 'gauge',
        labels: ['kind'],
      },
      () => [
        { labels: { kind: 'in_flight' }, value: this.#budget.used },
        { labels: { kind: 'limit' }, value: this.#budget.limit },
      ],
    );
    this.#refusals = metrics.counter({
      name: 'http_bodies_refused_total',
      help: 'Bodies that were refused because too many bytes were in flight: of all callers, or of this one.',
      labels: ['of'],
    });
  }

  /** Raises what a request holds to `bytes`. @throws RequestError overloaded */
  reserve(req: IncomingMessage, bytes: number): void {
    const share = this.#shares.get(req) ?? this.#budget.open(limitKeyOf(callerOf(req)));
    this.#shares.set(req, share);
    const refusal = share.raiseTo(bytes);
    if (refusal === null) return;
    this.#refusals.inc({ of: refusal });
    throw new RequestError(
      'overloaded',
      refusal === 'total'
        ? 'Too many bytes are being received at the moment. Send the request again later.'
        : 'You are sending too many bytes at the same time. Send this request again when others have ended.',
    );
  }

  /** Call it when the request has been handled, however it ended. */
  release(req: IncomingMessage): void {
    this.#shares.get(req)?.release();
  }
}
