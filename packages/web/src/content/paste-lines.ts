import { decoderOf, type TextEncoding } from './text-encoding.ts';
import { escapeHtml } from '../html/html.ts';

/**
 * The lines of one chunk. A browser lays out and paints only the chunks that are in view
 * (`content-visibility`).
 */
const LINES_OF_CHUNK = 256;

/**
 * The lines that a page shows, in whole chunks: 10 MiB of source code have up to 294,000 lines (Python's
 * standard library), and 300,000 lines take about 240 MB in Chromium, which took up to 4 GB for 5 million.
 */
export const MAX_LINES = 1172 * LINES_OF_CHUNK; // 300,032

/**
 * Each of the first lines is an element, a row, so that its number stays beside it when it wraps. An element
 * takes a browser ten times the memory of its text, so that later lines have none.
 */
const MAX_ROWS = 20 * LINES_OF_CHUNK; // 5,120

/** `<div id=L5120 data-n=5120></div>` */
const ROW_BYTES = 32;

/**
 * The bytes of markup for each byte of a text: a quotation mark becomes `&quot;`, and a line of one byte gets
 * a number of up to seven, or is a row.
 * @returns a whole number that is enough for any text of this size
 */
export function markupBytesOf(bytes: number): number {
  return 8 + Math.ceil((ROW_BYTES * Math.min(bytes, MAX_ROWS)) / Math.max(1, bytes));
}

/**
 * A longer line is folded into parts of this length: one line of 10 MiB takes Chromium many seconds to lay
 * out.
 */
export const MAX_LINE_CHARACTERS = 10_000;

/** What a reader should know of a text before trusting what the page shows. */
export interface TextWarnings {
  readonly bidi: boolean;
  readonly notUtf8: boolean;
  readonly longLines: boolean;
  /** The page shows the first MAX_LINES lines only. */
  readonly cut: boolean;
}

/**
 * Turns the bytes of a paste into markup as they arrive, so that a paste of 10 MiB never is in memory as a
 * whole. A chunk has rows, or two text nodes: the line numbers and the text.
 */
export class PasteLines {
  readonly #decoder: ReturnType<typeof decoderOf>;
  readonly #lines: string[] = [];
  /** The beginning of a line whose end has not arrived. */
  #pending = '';
  /** Parts of the line in #pending were written already. */
  #isFolding = false;
  #lineNumber = 1;
  #warnings: TextWarnings = { bidi: false, notUtf8: false, longLines: false, cut: false };

  constructor(encoding: TextEncoding = 'utf-8') {
    this.#decoder = decoderOf(encoding);
  }

  get warnings(): TextWarnings {
    return this.#warnings;
  }

  /** The markup of the chunks that these bytes complete. */
  push(bytes: Uint8Array): string {
    return this.#read(this.#decoder.decode(bytes, { stream: true }));
  }

  /** The markup of the rest. */
  end(): string {
    let markup = this.#read(this.#decoder.decode());
    if (this.#pending !== '' || this.#isFolding) markup += this.#take(this.#pending, '');
    this.#pending = '';
    return markup + this.#flush('chunk tail');
  }

  #read(text: string): string {
    if (this.#warnings.cut) return '';
    this.#warn(text);
    const [first = '', ...others] = text.split('\n');
    this.#pending += first;
    let markup = '';
    for (const line of others) {
      if (this.#isFull()) return markup + this.#dropRest();
      markup += this.#take(this.#pending, '\n');
      this.#pending = line;
    }
    if (this.#isFull() && this.#pending !== '') return markup + this.#dropRest();
    if (this.#pending.length > MAX_LINE_CHARACTERS) markup += this.#foldPending();
    return markup;
  }

  #isFull(): boolean {
    return this.#lineNumber > MAX_LINES;
  }

  /** The text after the last line that the page shows. */
  #dropRest(): '' {
    this.#warnings = { ...this.#warnings, cut: true };
    this.#pending = '';
    return '';
  }

  /** Takes a line whose end has arrived. */
  #take(line: string, ending: '\n' | ''): string {
    if (!this.#isFolding && line.length <= MAX_LINE_CHARACTERS) {
      this.#lines.push(line.endsWith('\r') ? line.slice(0, -1) + ending : line + ending);
      return this.#lines.length === LINES_OF_CHUNK ? this.#flush('chunk') : '';
    }
    this.#pending = line;
    const markup = this.#foldPending() + this.#part(this.#pending);
    this.#isFolding = false;
    this.#lineNumber += 1;
    return markup;
  }

  /** Writes parts of the pending line until less than a part is left. */
  #foldPending(): string {
    let markup = this.#flush('chunk');
    while (this.#pending.length > MAX_LINE_CHARACTERS) {
      const length = endsInsidePair(this.#pending, MAX_LINE_CHARACTERS)
        ? MAX_LINE_CHARACTERS - 1
        : MAX_LINE_CHARACTERS;
      markup += this.#part(this.#pending.slice(0, length));
      this.#pending = this.#pending.slice(length);
    }
    return markup;
  }

  #part(text: string): string {
    const numbers = this.#isFolding ? '' : String(this.#lineNumber);
    this.#isFolding = true;
    this.#warnings = { ...this.#warnings, longLines: true };
    return chunk('chunk long', numbers, text);
  }

  #flush(className: string): string {
    if (this.#lines.length === 0) return '';
    const first = this.#lineNumber;
    this.#lineNumber += this.#lines.length;
    const lines = this.#lines.splice(0);
    if (first <= MAX_ROWS) return rows(className, first, lines);
    return chunk(className, lines.map((_, index) => first + index).join('\n'), lines.join(''));
  }

  #warn(text: string): void {
    const { bidi, notUtf8 } = this.#warnings;
    this.#warnings = {
      ...this.#warnings,
      bidi: bidi || BIDI_MARK.test(text),
      notUtf8: notUtf8 || REPLACED.test(text),
    };
  }
}

/** An address such as `#L12` leads to a row also without JavaScript. */
function rows(className: string, first: number, lines: readonly string[]): string {
  const markup = lines.map((line, index) => {
    const number = first + index;
    return `<div id=L${number} data-n=${number}>${textMarkup(line)}</div>`;
  });
  return `<div class="${className}">${markup.join('')}</div>\n`;
}

function chunk(className: string, numbers: string, text: string): string {
  // A parser drops the first newline after <pre>, so that one is written for it to drop.
  return `<div class="${className}"><div class="numbers" aria-hidden="true">${numbers}</div><pre>\n${textMarkup(text)}</pre></div>\n`;
}

/** Whether a text would be cut between the two halves of a surrogate pair. */
function endsInsidePair(text: string, length: number): boolean {
  return /[\ud800-\udbff]/.test(text.charAt(length - 1));
}

/** The embeddings, overrides and isolates of Unicode's bidirectional algorithm (UAX 9, table 4). */
export const BIDI_MARK = /[\u202a-\u202e\u2066-\u2069]/;

/** The decoder writes U+FFFD for bytes that are not UTF-8; markup can't hold U+0000. */
export const REPLACED = /[\ufffd\0]/; // oxlint-disable-line no-control-regex

/**
 * Text as markup of an element that keeps its white space. A parser would turn a carriage return into a
 * newline, unless it is a reference. A mark of direction would show the code around it in another order than
 * compilers read it (Trojan Source, CVE-2021-42574), so that its code point is shown.
 */
export function textMarkup(text: string): string {
  return escapeHtml(text)
    .replaceAll('\r', '&#13;')
    .replaceAll('\0', '\ufffd')
    .replaceAll(BIDI_MARKS, (mark) => `[U+${mark.charCodeAt(0).toString(16).toUpperCase()}]`);
}

const BIDI_MARKS = new RegExp(BIDI_MARK, 'g');
