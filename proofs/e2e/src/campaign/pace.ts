import { setTimeout as sleep } from 'node:timers/promises';

/** In pastes. */
export interface PacedLoad {
  /** How many may be begun. */
  allowed: number;
  readonly begun: number;
}

/**
 * Spreads the acts over the pastes: each has its share of them, so that there is load during each act, and
 * waits until the shares before are begun. Otherwise all faults of a long run fall into its beginning, because
 * pastes take longer than faults.
 * @param patienceMs for a load that a fault has stopped until the next one
 */
export async function actAll<Act>(
  acts: readonly Act[],
  load: PacedLoad,
  { pastes, patienceMs }: { readonly pastes: number; readonly patienceMs: number },
  act: (act: Act, index: number) => Promise<void>,
): Promise<void> {
  for (const [index, each] of acts.entries()) {
    const until = performance.now() + patienceMs;
    while (load.begun < load.allowed && performance.now() < until) await sleep(20);
    load.allowed = Math.ceil((pastes * (index + 1)) / acts.length);
    await act(each, index);
  }
}
