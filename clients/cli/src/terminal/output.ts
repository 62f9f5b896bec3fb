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

/**
 * What a terminal may execute, and what hides or reorders text: control characters (ESC and the one-byte CSI
 * among them), format characters (bidirectional overrides, zero-width ones), lone surrogates, and the
 * separators of lines and paragraphs.
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/** The same, save line feeds and tabs. */
const UNSAFE_IN_CONTENT = /[^\P{Cc}\n\t]|[\p{Cf}\p{Cs}\u2028\u2029]/gu;

/** A text of somebody else, for one line on a terminal: `\u{1b}` instead of ESC. */
export function safeText(text: string): string {
  return text.replace(UNSAFE, escaped);
}

/** The content of a paste, for a terminal. Lines that end with CR LF end with LF. */
export function safeContent(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(UNSAFE_IN_CONTENT, escaped);
}

/**
 * JSON in one line. What is unsafe on a terminal is escaped as JSON escapes it: parsers read the same value.
 */
export function safeJson(value: unknown): string {
  return JSON.stringify(value).replace(UNSAFE, (characters) =>
    Array.from({ length: characters.length }, (_, i) => {
      const unit = characters.charCodeAt(i).toString(16).padStart(4, '0');
      return `\\u${unit}`;
    }).join(''),
  );
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
