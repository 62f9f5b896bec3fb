/** What has been measured of a contender in one round, by column. */
export type Measured = Readonly<Record<string, number>>;

export interface Running {
  stop(): Promise<void>;
}

export interface Contender<T extends Running> {
  readonly name: string;
  readonly version: string;
  /** What it does not do. */
  readonly lacks: string;
  /** Installs it, if need be. */
  install(): Promise<void>;
  start(): Promise<T>;
}

const ROUNDS = 3;

/**
 * Measures contenders in turns, ABCABCABC, so that a busy minute of the machine meets all of them. One that
 * fails loses its further rounds, and not the run.
 */
export class Comparison<T extends Running> {
  readonly #title: string;
  readonly #contenders: readonly Contender<T>[];
  readonly #measure: (running: T) => Promise<Measured>;
  readonly #print: (line: string) => void;
  readonly #rounds = new Map<Contender<T>, Measured[]>();
  readonly #failures = new Map<Contender<T>, string>();
  #running: T | undefined;
  #isStopped = false;

  constructor(
    title: string,
    contenders: readonly Contender<T>[],
    measure: (running: T) => Promise<Measured>,
    print: (line: string) => void,
  ) {
    this.#title = title;
    this.#contenders = contenders;
    this.#measure = measure;
    this.#print = print;
  }

  async run(): Promise<void> {
    for (const contender of this.#contenders) {
      await this.#unlessItFails(contender, () => contender.install());
    }
    for (let round = 1; round <= ROUNDS; round += 1) {
      for (const contender of this.#contenders) {
        await this.#unlessItFails(contender, async () => {
          const measured = await this.#measureOnce(contender);
          this.#rounds.set(contender, [...(this.#rounds.get(contender) ?? []), measured]);
          const figures = Object.entries(measured).map(([column, value]) => `${column} ${rounded(value)}`);
          this.#print(`round ${round}, ${contender.name}: ${figures.join(', ')}`);
        });
      }
    }
  }

  /** Prints the medians so far, each with the least and the most, as a table in Markdown. */
  printTable(): void {
    if (this.#contenders.length === 0) return;
    this.#print(`\n${this.#title}\n`);
    const columns = [...new Set([...this.#rounds.values()].flat().flatMap(Object.keys))];
    this.#print(row(['', 'version', 'rounds', ...columns, 'what it does not do']));
    this.#print(row(Array.from({ length: columns.length + 4 }, () => '---')));
    for (const [{ name, version, lacks }, rounds] of this.#rounds) {
      const cells = columns.map((column) => spread(rounds.map((measured) => measured[column] ?? NaN)));
      this.#print(row([name, version, String(rounds.length), ...cells, lacks]));
    }
    for (const [{ name }, reason] of this.#failures) this.#print(`\n${name} was left out: ${reason}`);
  }

  /** Stops what is being measured, and measures nothing more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#stopRunning();
  }

  async #measureOnce(contender: Contender<T>): Promise<Measured> {
    const running = await contender.start();
    this.#running = running;
    try {
      return await this.#measure(running);
    } finally {
      await this.#stopRunning();
    }
  }

  async #stopRunning(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    await running?.stop();
  }

  async #unlessItFails(contender: Contender<T>, act: () => Promise<void>): Promise<void> {
    if (this.#isStopped || this.#failures.has(contender)) return;
    try {
      await act();
    } catch (error) {
      if (this.#isStopped) return;
      this.#failures.set(contender, (error as Error).message);
      this.#print(`${contender.name} failed: ${(error as Error).message}`);
    }
  }
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const rounded = (value: number): string =>
  value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 2 : 0 });

function spread(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)] ?? NaN;
  return `${rounded(median)} (${rounded(sorted[0] ?? NaN)}–${rounded(sorted.at(-1) ?? NaN)})`;
}

/** The versions that are compared, all of them here. */
export const VERSIONS = {
  'graphile-worker': '0.18.0',
  'pg-boss': '12.38.0',
  River: '0.51.2',
  /** Its signer, with which River's worker puts. */
  'aws-sdk-go-v2': '1.48.0',
  wastebin: '3.7.0',
  rustypaste: '0.18.1',
} as const;
