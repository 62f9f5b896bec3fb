import { decoderOf, type TextEncoding } from './text-encoding.ts';
import { escapeHtml } from '../html/html.ts';
import { CUT_SEQUENCE, type Run, Terminal } from './terminal.ts';

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

/** `f100-` */
const PREFIX_BYTES = 5;

/** What stands around a file of a paste with several: its name, which the page has seven times, and buttons. */
const FILE_BYTES = 6144;

/**
 * The bytes of markup for each byte of a text: a quotation mark becomes `&quot;`, and a line of one byte gets
 * a number of up to seven, or is a row.
 * @returns a whole number that is enough for any text of this size, in as many files
 */
export function markupBytesOf(bytes: number, files = 0): number {
  const row = files === 0 ? ROW_BYTES : ROW_BYTES + PREFIX_BYTES;
  return 8 + Math.ceil((row * Math.min(bytes, MAX_ROWS) + FILE_BYTES * files) / Math.max(1, bytes));
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

/** Where the text stands on a page of several. */
interface PlaceOnPage {
  /** Of the address of each line, such as `f2-`. */
  readonly prefix: string;
  /** The lines of the texts above: what a page shows is bounded as a whole. */
  readonly linesAbove: number;
}

/**
 * Turns the bytes of a paste into markup as they arrive, so that a paste of 10 MiB never is in memory as a
 * whole. A chunk has rows, or two text nodes: the line numbers and the text.
 */
export class PasteLines {
  readonly #decoder: ReturnType<typeof decoderOf>;
  /** null: the text has no colours of a terminal, whatever is in it. */
  readonly #terminal: Terminal | null;
  readonly #place: PlaceOnPage;
  readonly #lines: string[] = [];
  /** The beginning of a line whose end has not arrived. */
  #pending = '';
  /** Parts of the line in #pending were written already. */
  #isFolding = false;
  #lineNumber = 1;
  #warnings: TextWarnings = { bidi: false, notUtf8: false, longLines: false, cut: false };

  /** @param language its id: a plain text, and one of which nothing is known, may come from a terminal */
  constructor(
    encoding: TextEncoding = 'utf-8',
    language = '',
    place: PlaceOnPage = { prefix: '', linesAbove: 0 },
  ) {
    this.#place = place;
    this.#decoder = decoderOf(encoding);
    this.#terminal = language === '' || language === 'text' ? new Terminal() : null;
  }

  get warnings(): TextWarnings {
    return this.#warnings;
  }

  /** The lines that were written, after the end. */
  get lineCount(): number {
    return this.#lineNumber - 1;
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
    return this.#place.linesAbove + this.#lineNumber > MAX_LINES;
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
      const length = lengthOfPart(this.#pending);
      markup += this.#part(this.#pending.slice(0, length));
      this.#pending = this.#pending.slice(length);
    }
    return markup;
  }

  #part(text: string): string {
    const numbers = this.#isFolding ? '' : String(this.#lineNumber);
    this.#isFolding = true;
    this.#warnings = { ...this.#warnings, longLines: true };
    return this.#chunk('chunk long', numbers, [text]);
  }

  #flush(className: string): string {
    if (this.#lines.length === 0) return '';
    const first = this.#lineNumber;
    this.#lineNumber += this.#lines.length;
    const lines = this.#lines.splice(0);
    if (this.#place.linesAbove + first > MAX_ROWS)
      return this.#chunk(className, lines.map((_, index) => first + index).join('\n'), lines);
    const shown = this.#shown(lines);
    return rows(className, this.#place.prefix, first, shown);
  }

  #chunk(className: string, numbers: string, lines: readonly string[]): string {
    return chunk(className, numbers, this.#shown(lines));
  }

  #shown(lines: readonly string[]): ShownLines {
    if (this.#terminal === null) return { lines, runs: [], room: 0 };
    const length = lines.reduce((sum, line) => sum + line.length, 0);
    return { ...this.#terminal.read(lines), room: ROOM_FOR_RUNS * length };
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

/** The lines without the codes of a terminal. */
interface ShownLines {
  readonly lines: readonly string[];
  readonly runs: readonly Run[];
  /** The characters that the markup of the text and its runs may take together. */
  readonly room: number;
}

/** For each character of a text, so that `markupBytesOf` is right for a text of which each letter has a colour. */
const ROOM_FOR_RUNS = 5;

/** An address such as `#L12` leads to a row also without JavaScript. */
function rows(className: string, prefix: string, first: number, shown: ShownLines): string {
  const texts = shown.lines.map(textMarkup);
  const markup = texts.map((text, index) => {
    const number = first + index;
    return `<div id=${prefix}L${number} data-n=${number}>${text}</div>`;
  });
  const taken = texts.reduce((sum, text) => sum + text.length, 0);
  return `<div class="${className}"${runsAttribute(shown, taken)}>${markup.join('')}</div>\n`;
}

function chunk(className: string, numbers: string, shown: ShownLines): string {
  const text = textMarkup(shown.lines.join(''));
  // A parser drops the first newline after <pre>, so that one is written for it to drop.
  return `<div class="${className}"${runsAttribute(shown, numbers.length + text.length)}><div class="numbers" aria-hidden="true">${numbers}</div><pre>\n${text}</pre></div>\n`;
}

/** For the browser, which paints them: start, end and kind of each run. */
function runsAttribute({ runs, room }: ShownLines, taken: number): string {
  let left = room - taken - ' data-runs=""'.length;
  let text = '';
  for (const run of runs) {
    const next = `${text && ','}${run.join()}`;
    left -= next.length;
    if (left < 0) break;
    text += next;
  }
  return text === '' ? '' : ` data-runs="${text}"`;
}

/** Neither within the two halves of a surrogate pair nor within a code of a terminal. */
function lengthOfPart(text: string): number {
  const part = text.slice(0, MAX_LINE_CHARACTERS);
  if (/[\ud800-\udbff]$/.test(part)) return part.length - 1;
  return part.length - (CUT_SEQUENCE.exec(part.slice(-50))?.[0].length ?? 0);
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
