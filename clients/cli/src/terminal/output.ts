import { safeJson, safeText } from './safe-text.ts';
import type { Terminal } from './terminal.ts';

/** stdout gets the results and nothing else. Everything for people goes to stderr. */
export class Output {
  readonly isJson: boolean;
  readonly #terminal: Terminal;

  constructor(terminal: Terminal, { json }: { json: boolean }) {
    this.#terminal = terminal;
    this.isJson = json;
  }

  /** A result: as JSON with `--json`, otherwise as lines of text. */
  result(value: unknown, lines: readonly string[]): void {
    const printed = this.isJson ? [safeJson(value)] : lines.map(safeText);
    this.#terminal.stdout.write(printed.map((line) => `${line}\n`).join(''));
  }

  /** A line for people, in place of a progress bar. */
  note(line: string): void {
    this.#terminal.stderr.write(`${this.#isPlain ? '' : '\r\u001b[K'}${safeText(line)}\n`);
  }

  /** @param about the file or the paste that the error is about */
  problem(message: string, about?: string): void {
    const where = about === undefined ? '' : `${safeText(about)}: `;
    this.#terminal.stderr.write(`${this.#red('pasteflow:')} ${where}${safeText(message)}\n`);
  }

  /** Lines that this program has made itself, for people. */
  drawing(lines: string): void {
    this.#terminal.stderr.write(`${lines}\n`);
  }

  get #isPlain(): boolean {
    const { stderr, env } = this.#terminal;
    return stderr.isTTY !== true || env.TERM === 'dumb';
  }

  /** https://no-color.org */
  #red(text: string): string {
    return this.#isPlain || this.#terminal.env.NO_COLOR ? text : `\u001b[31m${text}\u001b[0m`;
  }
}

/** The rows as lines, with the columns below each other. */
export function tableOf(rows: readonly (readonly string[])[]): readonly string[] {
  const safe = rows.map((row) => row.map(safeText));
  const widths = safe.reduce<number[]>(
    (found, row) => row.map((cell, i) => Math.max(found[i] ?? 0, cell.length)),
    [],
  );
  return safe.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
