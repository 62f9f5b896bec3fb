import type { ExportedFile } from './archive.ts';
import type { Outcome } from './outcomes.ts';

/** The files of an export, one by one, until the worker stops. */
export class PasteFiles {
  readonly #outcomes: AsyncIterator<Outcome>;
  readonly #stopping: AbortSignal;
  readonly #onOutcome: (outcome: Outcome) => void;
  #hasEnded = false;

  /** @param onOutcome called for each paste that has had its turn, with or without a file */
  constructor(
    outcomes: AsyncIterator<Outcome>,
    stopping: AbortSignal,
    onOutcome: (outcome: Outcome) => void,
  ) {
    this.#outcomes = outcomes;
    this.#stopping = stopping;
    this.#onOutcome = onOutcome;
  }

  /** No paste is left. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** @returns null when no paste is left, or the worker stops. A paste that is read meanwhile has no turn then. */
  async next(): Promise<ExportedFile | null> {
    while (!this.#hasEnded) {
      const outcome = await this.#nextOutcome();
      if (outcome === null) return null;
      this.#onOutcome(outcome);
      if (outcome.kind === 'content') return { paste: outcome.paste, content: outcome.content };
    }
    return null;
  }

  async #nextOutcome(): Promise<Outcome | null> {
    if (this.#stopping.aborted) return null;
    const stopped = Promise.withResolvers<null>();
    const stop = (): void => stopped.resolve(null);
    this.#stopping.addEventListener('abort', stop, { once: true });
    try {
      const next = await Promise.race([this.#outcomes.next(), stopped.promise]);
      if (next === null) return null;
      this.#hasEnded = next.done === true;
      return next.done === true ? null : next.value;
    } finally {
      this.#stopping.removeEventListener('abort', stop);
    }
  }
}
