import { element, optional } from '../element.ts';
import { isOneText, LINE_PX, numberRows, numbersOf, rowOf } from './number-rows.ts';

/** A text of the page. */
export interface ShownText {
  /** Begins the addresses of its lines: `f2-` on a page of several texts. */
  readonly prefix: string;
  readonly content: HTMLElement;
  readonly chunks: readonly HTMLElement[];
}

/** Lines that are selected, from 1. */
interface Selection {
  readonly first: number;
  readonly last: number;
}

/**
 * Chunks above have estimated heights until they are laid out near the view: each step finds more of the real
 * ones.
 */
const SCROLL_STEPS = 20;

/** @returns null when the part of the address selects no lines of this text */
function selectionOf(hash: string, prefix: string): Selection | null {
  if (!hash.startsWith(`#${prefix}`)) return null;
  const [, from, to] = /^L(\d{1,9})(?:-L?(\d{1,9}))?$/.exec(hash.slice(1 + prefix.length)) ?? [];
  return from === undefined ? null : ordered(Number(from), Number(to ?? from));
}

/**
 * Lines that the address selects (`#L12`, `#L12-L20`; `#f2-L12` on a page of several texts). A click on a line number selects that line; with the
 * Shift key the selection extends to it. The form above the text selects lines with the keyboard.
 */
export class LineSelection {
  readonly #prefix: string;
  readonly #content: HTMLElement;
  readonly #chunks: readonly HTMLElement[];
  #anchor: number | null = null;
  /** The first line of each chunk; computed at the first use. */
  #firsts: readonly number[] | undefined;

  constructor({ prefix, content, chunks }: ShownText) {
    this.#prefix = prefix;
    this.#content = content;
    this.#chunks = chunks;
  }

  /** Selects the line of a click in the column of the numbers. */
  click({ target, clientY, shiftKey }: MouseEvent): void {
    const part = (target as Element).closest<HTMLElement>('.chunk > *');
    const chunk = part?.parentElement;
    if (!part || !chunk) return;
    const first = Number(part.dataset['n'] ?? this.#firstLines()[this.#chunks.indexOf(chunk)]);
    const row = Math.floor((clientY - part.getBoundingClientRect().top) / LINE_PX);
    const rows = isOneText(chunk) ? (part.textContent ?? '').split('\n').slice(0, row + 1) : [];
    const line = Number(rows.findLast(Boolean) ?? first);
    const anchor = shiftKey ? (this.#anchor ?? line) : line;
    this.#anchor = anchor;
    this.#select(ordered(anchor, line), { scroll: false });
  }

  /** Selects what the form says: `12`, `12-20`, and nothing for no line. */
  submit(form: HTMLFormElement): void {
    const input = element('lines', HTMLInputElement);
    const text = input.value.trim();
    const [, from, to] = /^L?(\d{1,9})(?: ?[-–:,] ?L?(\d{1,9}))?$/i.exec(text) ?? [];
    const isWrong = from === undefined && text !== '';
    input.setCustomValidity(isWrong ? (form.dataset['wrong'] ?? '') : '');
    if (isWrong) input.reportValidity();
    else
      this.#select(from === undefined ? null : ordered(Number(from), Number(to ?? from)), { scroll: true });
  }

  /** @param selection null: no line any more */
  #select(selection: Selection | null, { scroll }: { readonly scroll: boolean }): void {
    history.replaceState(null, '', this.#addressOf(selection));
    this.show({ scroll });
  }

  /** The part of the address that selects lines. */
  #addressOf(selection: Selection | null): string {
    if (selection === null) return location.pathname + location.search;
    const { first, last } = selection;
    return `#${this.#prefix}L${first}${first === last ? '' : `-L${last}`}`;
  }

  /** Selects no line any more. */
  clear(): void {
    for (const old of this.#content.querySelectorAll('.selected')) old.classList.remove('selected');
    for (const old of this.#content.querySelectorAll('.band')) old.remove();
    announce(null);
  }

  /** After the rows of lines have changed, unless another text is selected by now. */
  showAgain(): void {
    if (selectionOf(location.hash, this.#prefix) !== null) this.show({ scroll: false });
  }

  /** Marks the lines of the address. */
  show({ scroll }: { readonly scroll: boolean }): void {
    const selection = selectionOf(location.hash, this.#prefix);
    this.clear();
    if (selection === null) return;
    this.#anchor ??= selection.first;
    const start = this.#find(selection.first);
    const end = this.#find(selection.last);
    if (start === null || end === null) return announce(selection, { exists: false });
    announce(selection, { exists: true });
    for (let index = start.index; index <= end.index; index += 1) this.#mark(index, selection);
    if (scroll) this.#scrollTo(start);
  }

  /** Marks the lines of a chunk that are selected: its rows, or a band behind its text. */
  #mark(index: number, { first, last }: Selection): void {
    const chunk = this.#chunks[index];
    if (chunk === undefined) return;
    if (chunk.firstElementChild?.hasAttribute('data-n') === true) {
      for (const row of chunk.querySelectorAll<HTMLElement>('[data-n]')) {
        const line = Number(row.dataset['n']);
        row.classList.toggle('selected', line >= first && line <= last);
      }
      return;
    }
    if (chunk.classList.contains('long')) {
      chunk.querySelector('pre')?.classList.add('selected');
      return;
    }
    const begin = this.#firstLines()[index] ?? 1;
    const from = rowOf(chunk, Math.max(first, begin));
    const below = rowOf(chunk, last + 1);
    const band = Object.assign(document.createElement('div'), { className: 'band' });
    band.style.top = `${from * LINE_PX}px`;
    if (below === -1) band.style.bottom = '0';
    else band.style.height = `${(below - from) * LINE_PX}px`;
    chunk.prepend(band);
  }

  #scrollTo({ index, row }: { readonly index: number; readonly row: number }): void {
    const chunk = this.#chunks[index];
    if (chunk === undefined) return;
    const found = chunk.querySelectorAll(':scope > [data-n]')[row];
    const line = (this.#firstLines()[index] ?? 1) + row;
    chunk.style.contentVisibility = 'visible'; // its height is estimated, too, until it is laid out
    let steps = 0;
    const step = (): void => {
      if (isOneText(chunk)) numberRows(chunk);
      const top =
        found?.getBoundingClientRect().top ??
        chunk.getBoundingClientRect().top + rowOf(chunk, line) * LINE_PX;
      scrollBy({ top: top - innerHeight / 3 });
      steps += 1;
      if (steps < SCROLL_STEPS) requestAnimationFrame(step);
    };
    step();
  }

  /** @returns null when the text has no such line */
  #find(line: number): { readonly index: number; readonly row: number } | null {
    const firsts = this.#firstLines();
    let index = firsts.findLastIndex((first) => first <= line);
    while (index > 0 && firsts[index - 1] === firsts[index]) index -= 1;
    const chunk = this.#chunks[index];
    const row = line - (firsts[index] ?? 1);
    return chunk === undefined || row >= linesOf(chunk) ? null : { index, row };
  }

  /** A part of a folded line has no number of its own: it counts as the line of the part before it. */
  #firstLines(): readonly number[] {
    let line = 1;
    this.#firsts ??= this.#chunks.map((chunk) => {
      const first = chunk.querySelector<HTMLElement>('[data-n], .numbers');
      line = Number.parseInt(first?.dataset['n'] ?? first?.textContent ?? '', 10) || line;
      return line;
    });
    return this.#firsts;
  }
}

/** How many lines a chunk has. */
function linesOf(chunk: HTMLElement): number {
  return isOneText(chunk) ? numbersOf(chunk).length : chunk.querySelectorAll('[data-n], pre').length;
}

/** Says which lines are selected, for those who don't see them; and to everybody that a line is missing. */
function announce(selection: Selection | null, { exists } = { exists: false }): void {
  const status = element('selected-lines', HTMLElement);
  const { one = '', several = '', missing = '' } = status.dataset;
  const isWrong = selection !== null && !exists;
  const link = optional('copy-lines', HTMLButtonElement);
  if (link !== null) link.hidden = !exists;
  status.className = isWrong ? 'hint' : 'visually-hidden';
  const text = isWrong ? missing : selection?.first === selection?.last ? one : several;
  const shown =
    selection === null
      ? ''
      : text.replace('{first}', String(selection.first)).replace('{last}', String(selection.last));
  if (status.textContent !== shown) status.textContent = shown; // it is read aloud
}

function ordered(a: number, b: number): Selection {
  return { first: Math.max(1, Math.min(a, b)), last: Math.max(1, a, b) };
}
