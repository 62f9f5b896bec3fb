const WINDOW_MS = 1000;

/** The lines of one kind since the last one that was written. */
interface Held<Line> {
  last: Line | undefined;
  count: number;
}

export type WriteLine<Line> = (line: Line, suppressed: number) => void;

/**
 * Writes at most one line of each kind a second: the first at once, and of those that follow within the second the last, when the second
 * is over. `suppressed` is the number of lines that were left out before a line, so that no line is lost from the count.
 */
export class FloodLimit<Line> {
  readonly #write: WriteLine<Line>;
  readonly #later: (act: () => void) => void;
  /** The kinds that had a line within the last second. */
  readonly #kinds = new Map<string, Held<Line>>();

  /** @param later calls its argument a second later, and does not keep the process alive for it */
  constructor(write: WriteLine<Line>, later: (act: () => void) => void = afterSecond) {
    this.#write = write;
    this.#later = later;
  }

  add(kind: string, line: Line): void {
    const held = this.#kinds.get(kind);
    if (held !== undefined) {
      held.last = line;
      held.count += 1;
      return;
    }
    this.#kinds.set(kind, { last: undefined, count: 0 });
    this.#later(() => this.#endWindow(kind));
    this.#write(line, 0);
  }

  /** Writes the lines that wait for the end of their second. To be called when the process exits. */
  flush(): void {
    for (const held of this.#kinds.values()) this.#writeLast(held);
  }

  #endWindow(kind: string): void {
    const held = this.#kinds.get(kind);
    if (held === undefined) return;
    if (held.count === 0) {
      this.#kinds.delete(kind);
      return;
    }
    this.#later(() => this.#endWindow(kind));
    this.#writeLast(held);
  }

  #writeLast(held: Held<Line>): void {
    const { last, count } = held;
    held.last = undefined;
    held.count = 0;
    if (last !== undefined) this.#write(last, count - 1);
  }
}

function afterSecond(act: () => void): void {
  setTimeout(act, WINDOW_MS).unref();
}
