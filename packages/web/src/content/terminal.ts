/** Select Graphic Rendition (ECMA-48, 8.3.117): what programs colour their output with. */
const SGR = /\u001b\[([\d;:]*)m/g; // oxlint-disable-line no-control-regex

/** The text as a terminal shows it. Other control sequences stay. */
export function withoutColours(text: string): string {
  return text.replaceAll(SGR, '');
}

/** A text may be cut within a sequence of this length. */
export const CUT_SEQUENCE = /\u001b(?:\[[\d;:]{0,40})?$/; // oxlint-disable-line no-control-regex

/** What the page paints, in the order of the numbers in runs. Colours are those of code. */
export const terminalKinds = [
  'deleted',
  'inserted',
  'property',
  'definition',
  'keyword',
  'type',
  'comment',
  'strong',
  'under',
  'on-bad',
  'on-good',
  'on',
] as const;

type Kind = (typeof terminalKinds)[number];

/** By the numbers of a terminal's colours, with grey. Black and white are as any text, so that it can be read. */
const COLOURS: readonly (Kind | null)[] = [
  null,
  'deleted',
  'inserted',
  'property',
  'definition',
  'keyword',
  'type',
  null,
  'comment',
];

/** A run of characters: where it starts and ends, and the number of its kind. */
export type Run = readonly [start: number, end: number, kind: number];

const WHITE = 7;
const GREY = 8;

/** Reads the lines of a terminal's output in their order. */
export class Terminal {
  /** The number of a colour; null: none was chosen. */
  #colour: number | null = null;
  #background: number | null = null;
  readonly #flags = new Set<number>();

  /** @returns the lines without codes, and the runs in the lines, as if these were one text */
  read(lines: readonly string[]): { readonly lines: readonly string[]; readonly runs: readonly Run[] } {
    const runs: Run[] = [];
    let begin = 0;
    const shown = lines.map((line) => {
      const text = this.#readLine(line, begin, runs);
      begin += text.length;
      return text;
    });
    return { lines: shown, runs };
  }

  #readLine(line: string, begin: number, runs: Run[]): string {
    let text = '';
    let last = 0;
    const add = (part: string): void => {
      const start = begin + text.length;
      const length = part.endsWith('\n') ? part.length - 1 : part.length;
      if (length > 0) runs.push(...this.#kinds().map((kind): Run => [start, start + length, kind]));
      text += part.replaceAll('\u001b', '␛');
    };
    for (const { index, 0: code, 1: parameters = '' } of line.matchAll(SGR)) {
      if (index > last) add(line.slice(last, index));
      last = index + code.length;
      this.#set(parameters.split(/[;:]/).map(Number));
    }
    add(line.slice(last));
    return text;
  }

  /** Text on a background has no colour, because it could not be read on many. */
  #kinds(): readonly number[] {
    const has = (flag: number): boolean => this.#flags.has(flag);
    const background = has(7) ? (this.#colour ?? WHITE) : this.#background;
    const colour = COLOURS[this.#colour ?? (has(2) ? GREY : WHITE)] ?? null;
    const on = background === 1 ? 'on-bad' : background === 2 ? 'on-good' : 'on';
    const kinds = [background === null ? colour : on, has(1) && 'strong', has(4) && 'under'] as const;
    return kinds.filter((kind) => kind !== null && kind !== false).map((kind) => terminalKinds.indexOf(kind));
  }

  #set(codes: readonly number[]): void {
    for (let i = 0; i < codes.length; i += 1) {
      const code = codes[i] ?? 0;
      if (code === 0) {
        this.#colour = this.#background = null;
        this.#flags.clear();
      } else if (code < 10) this.#flags.add(code);
      else if (code === 22) [1, 2].forEach((flag) => this.#flags.delete(flag));
      else if (code > 20 && code < 30) this.#flags.delete(code - 20);
      else if (code === 38 || code === 48) {
        const [colour, used] = extendedColour(codes.slice(i + 1));
        if (code === 38) this.#colour = colour;
        else this.#background = colour;
        i += used;
      } else if (code < 40) this.#colour = code === 39 ? null : code - 30;
      else if (code < 50) this.#background = code === 49 ? null : code - 40;
      else if (code >= 90 && code < 98) this.#colour = code === 90 ? GREY : code - 90;
      else if (code >= 100 && code < 108) this.#background = code - 100;
    }
  }
}

/** The nearest colour to one of 256, or to any, and how many codes name it. */
function extendedColour([kind, a = 0, b = 0, c = 0]: readonly number[]): readonly [
  colour: number,
  used: number,
] {
  if (kind === 2) return [nearest(a, b, c), 4];
  if (kind !== 5) return [WHITE, 0];
  if (a < 16) return [a === 8 ? GREY : a % 8, 2];
  if (a > 231) return [a < 246 ? GREY : WHITE, 2];
  const [red = 0, green = 0, blue = 0] = [36, 6, 1].map((step) => (Math.floor((a - 16) / step) % 6) * 51);
  return [nearest(red, green, blue), 2];
}

/** Red, green and blue are a bit each, as in the numbers of the eight colours. */
function nearest(red: number, green: number, blue: number): number {
  const most = Math.max(red, green, blue);
  const least = Math.min(red, green, blue);
  if (most - least < 40) return most < 60 || most > 180 ? WHITE : GREY;
  const half = (most + least) / 2;
  return [red, green, blue].reduce((sum, each, bit) => sum + (each > half ? 1 << bit : 0), 0);
}
