import { StringStream, type StreamParser } from '@codemirror/streamparser';
import { kindOf } from './kinds.ts';

/** A mode that takes no character of a line this many times is broken: the rest of the line stays plain. */
const MAX_EMPTY_TOKENS = 10;

/**
 * Some modes take time with the square of a line's length. The rest of such a line stays plain, and so does
 * the rest of a text of such lines.
 */
export const MAX_LINE_MS = 50;
export const MAX_TEXT_MS = 5000;

const TAB_SIZE = 4;
const INDENT_UNIT = 2;

/** Reads the chunks of a text in their order, and remembers the state of the mode between them. */
export class Tokenizer {
  readonly #mode: StreamParser<unknown>;
  readonly #state: unknown;
  readonly #now: () => number;
  #spentMs = 0;
  #isAtStart = true;

  /** @param now a clock in milliseconds */
  constructor(mode: StreamParser<unknown>, now: () => number = () => performance.now()) {
    this.#mode = mode;
    this.#now = now;
    this.#state = mode.startState?.(INDENT_UNIT) ?? {};
  }

  /** The tokens of a chunk: start, end and kind of each, one after another. */
  read(text: string): Uint32Array<ArrayBuffer> {
    const tokens: number[] = [];
    let offset = this.#isAtStart && text.startsWith('\ufeff') ? 1 : 0; // a byte order mark is no part of the first line
    this.#isAtStart = false;
    for (const line of linesOf(text.slice(offset))) {
      if (this.#spentMs > MAX_TEXT_MS) break;
      const began = this.#now();
      this.#readLine(line, { offset, tokens, deadline: began + MAX_LINE_MS });
      this.#spentMs += this.#now() - began;
      offset += line.length + 1;
    }
    return Uint32Array.from(tokens);
  }

  #readLine(
    line: string,
    { offset, tokens, deadline }: { offset: number; tokens: number[]; deadline: number },
  ): void {
    if (line === '') {
      this.#mode.blankLine?.(this.#state, INDENT_UNIT);
      return;
    }
    const stream = new StringStream(line, TAB_SIZE, INDENT_UNIT);
    let empty = 0;
    while (!stream.eol() && empty < MAX_EMPTY_TOKENS && this.#now() <= deadline) {
      stream.start = stream.pos;
      const style = this.#mode.token(stream, this.#state);
      if (stream.pos === stream.start) empty += 1;
      else if (style) addToken(tokens, offset + stream.start, offset + stream.pos, kindOf(style));
    }
  }
}

/** The newline at the end of a chunk begins no line. */
function linesOf(text: string): readonly string[] {
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
}

/** Joins tokens of one kind that touch, such as the words of a comment. */
function addToken(tokens: number[], start: number, end: number, kind: number): void {
  if (kind < 0) return;
  const last = tokens.length - 3;
  if (last >= 0 && tokens[last + 1] === start && tokens[last + 2] === kind) tokens[last + 1] = end;
  else tokens.push(start, end, kind);
}
