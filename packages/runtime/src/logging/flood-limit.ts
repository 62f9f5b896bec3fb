const WINDOW_MS = 1000;

/** The lines of one kind since the last one that was written. */
interface Held<Line> {
  last: Line | undefined;
  count: number;
}

export type WriteLine<Line> = (line: Line, suppressed: number) => void;

/**
 * Writes at most one line of each kind a second: the first at once, and of those that follow within the
 * second the last, when the second is over. `suppressed` is the number of lines that were left out before a
 * line, so that no line is lost from the count.
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

/** Fields that tell apart lines with the same message. Each has few values. */
const LABELS = ['sweep', 'check', 'component', 'route', 'queue', 'job_type', 'issuer', 'what'];

/** Of an error and its causes. The root cause is rarely deeper. */
const MAX_CAUSES = 4;

/**
 * The kind of a line, for the limit on floods: its message, its labels and the kind of its error, but no ids,
 * counts and texts. Errors that are thrown at different places are of different kinds.
 */
export function kindOf(level: string, message: string, fields: Readonly<Record<string, unknown>>): string {
  const labels = LABELS.map((label) => fields[label] ?? null);
  return JSON.stringify([level, message, labels.map(String), kindsOfErrors(fields.error)]);
}

function kindsOfErrors(error: unknown): readonly string[] {
  const kinds: string[] = [];
  for (let each = error; Error.isError(each) && kinds.length < MAX_CAUSES; each = causeOf(each)) {
    const { code } = each as { readonly code?: unknown };
    kinds.push(`${each.name} ${String(code)} ${placeOf(each)}`);
  }
  return kinds;
}

/** The first of several errors stands for all. */
function causeOf(error: Error): unknown {
  return error.cause ?? (error instanceof AggregateError ? error.errors[0] : undefined);
}

/** The first line of the stack that names a place; empty without one. */
function placeOf({ stack = '' }: Error): string {
  const start = stack.indexOf('\n    at ');
  if (start === -1) return '';
  const end = stack.indexOf('\n', start + 1);
  return stack.slice(start, end === -1 ? undefined : end).trim();
}
