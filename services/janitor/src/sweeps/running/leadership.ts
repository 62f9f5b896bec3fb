import { holdLeaderLock, type Database } from '@pasteflow/postgres';
import { PollLoop, type Component } from '@pasteflow/runtime';
import type { JanitorContext } from '../context.ts';

/**
 * Of several janitors one runs the sweeps by its schedule. Another one takes over within seconds when it ends,
 * freezes, or loses its connection.
 */
export class Leadership implements Component {
  readonly name = 'leadership';
  #leads = false;
  readonly #loop: PollLoop;

  /**
   * @param lock a connection for the lock alone
   * @param onChange called when this janitor begins to lead, and when it no longer does
   */
  constructor(
    { lockIdleSeconds: idleSeconds, logger }: Pick<JanitorContext, 'lockIdleSeconds' | 'logger'>,
    lock: Database,
    onChange: (leads: boolean) => void,
  ) {
    const changed = (leads: boolean): void => {
      if (leads === this.#leads) return;
      this.#leads = leads;
      logger.info(leads ? 'this janitor runs the sweeps' : 'this janitor no longer runs the sweeps');
      onChange(leads);
    };
    this.#loop = new PollLoop({
      name: this.name,
      intervalMs: 0,
      run: (signal) => holdLeaderLock(lock, { idleSeconds, signal, onChange: changed }),
      // Longer than the others wait before they ask: they get the lock that this janitor has lost.
      backoff: { firstMs: idleSeconds * 500, capMs: idleSeconds * 500, jitter: 0.2 },
      onError: (error, { failures, retryInMs }) => {
        if (!Number.isInteger(Math.log2(failures))) return;
        logger.warn('no lock for the sweeps', { failures, retry_in_ms: retryInMs, error });
      },
    });
  }

  get leads(): boolean {
    return this.#leads;
  }

  start(): Promise<void> {
    return this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }
}
