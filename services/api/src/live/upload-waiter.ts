import type { ServerResponse } from 'node:http';
import { parseReason } from '@pasteflow/domain';
import type { Snapshot, SnapshotTransition, Subscription } from '@pasteflow/postgres';
import type { ChangePoller, Watcher } from './change-poller.ts';

/** Why a wait has ended. The state of the paste is not part of it: read the row afterwards. */
export type WaitEnd = 'changed' | 'storage_failed' | 'time_over' | 'disconnected';

export interface UploadWaiterOptions {
  /** Of the paste. */
  readonly id: string;
  readonly waitMs: number;
}

/**
 * Waits until the upload of a paste has ended, the paste is gone, or an attempt has failed because of S3: the
 * next attempt comes a second later or more.
 */
export class UploadWaiter implements Watcher {
  readonly purpose = 'content';
  readonly kind = 'upload';
  readonly id: string;
  readonly #poller: ChangePoller;
  readonly #waitMs: number;
  readonly #end = Promise.withResolvers<WaitEnd>();
  /** The id of the last transition that was read. */
  #after = 0;

  constructor(poller: ChangePoller, { id, waitMs }: UploadWaiterOptions) {
    this.#poller = poller;
    this.id = id;
    this.#waitMs = waitMs;
  }

  /** Call this after `watch`; it calls `unwatch`. */
  async end(res: ServerResponse): Promise<WaitEnd> {
    const leave = (): void => this.#end.resolve('disconnected');
    const timer = setTimeout(() => this.#end.resolve('time_over'), this.#waitMs);
    res.once('close', leave);
    if (res.destroyed) leave(); // the event came before the listener
    try {
      return await this.#end.promise;
    } finally {
      clearTimeout(timer);
      res.off('close', leave);
      this.#poller.unwatch(this);
    }
  }

  wants(): Pick<Subscription, 'after' | 'row'> {
    return { after: this.#after, row: 'never' };
  }

  onSnapshot(snapshot: Snapshot | null): void {
    if (snapshot === null || snapshot.settled || snapshot.gone) {
      this.#end.resolve('changed');
      return;
    }
    if (snapshot.transitions.some(isFailureOfStorage)) this.#end.resolve('storage_failed');
    this.#after = Math.max(this.#after, snapshot.transitions.at(-1)?.id ?? 0);
  }

  /** The wait goes on: the read is repeated. */
  onReadFailed(): void {}

  onStop(): void {
    this.#end.resolve('time_over');
  }
}

function isFailureOfStorage({ to, reason }: SnapshotTransition): boolean {
  if (to !== 'FAILED' || reason === null) return false;
  const { class: reasonClass } = parseReason(reason);
  return reasonClass === 'storage_unavailable' || reasonClass === 'storage_refused';
}
