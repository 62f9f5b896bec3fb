import { element, optional } from '../element.ts';

/** Lines that are selected, from 1. */
export interface Selection {
  readonly first: number;
  readonly last: number;
}

/** The part of the address that selects lines. */
function addressOf(selection: Selection | null): string {
  if (selection === null) return location.pathname + location.search;
  const { first, last } = selection;
  return first === last ? `#L${first}` : `#L${first}-L${last}`;
}

/** @returns null when the part of the address selects no lines */
function selectionOf(hash: string): Selection | null {
  const [, from, to] = /^#L(\d{1,9})(?:-L?(\d{1,9}))?$/.exec(hash) ?? [];
  if (from === undefined) return null;
  const [a, b] = [Math.max(1, Number(from)), Math.max(1, Number(to ?? from))];
  return { first: Math.min(a, b), last: Math.max(a, b) };
}

/** The height of a line in page.css. */
const LINE_PX = 20;

/**
 * Lines that the address selects (`#L12`, `#L12-L20`). A click on a line number selects that line; with the
 * Shift key the selection extends to it. The form above the text selects lines with the keyboard.
 */
export class LineSelection {
  readonly #content: HTMLElement;
  readonly #chunks: readonly HTMLElement[];
  #anchor: number | null = null;
  /** The first line of each chunk; computed at the first use. */
  #firsts: readonly number[] | undefined;

  constructor(content: HTMLElement, chunks: readonly HTMLElement[]) {
    this.#content = content;
    this.#chunks = chunks;
    content.addEventListener('click', (event) => this.#onClick(event));
    addEventListener('hashchange', () => this.#show({ scroll: true }));
    lineForm((selection) => this.#select(selection, { scroll: true }));
    this.#show({ scroll: true });
  }

  #onClick(event: MouseEvent): void {
    const numbers = (event.target as Element).closest<HTMLElement>('.numbers');
    const chunk = numbers?.parentElement;
    if (!numbers || !chunk) return;
    const index = this.#chunks.indexOf(chunk);
    const row = chunk.classList.contains('long')
      ? 0
      : Math.floor((event.clientY - numbers.getBoundingClientRect().top) / LINE_PX);
    const line = (this.#firstLines()[index] ?? 1) + Math.max(0, row);
    const anchor = event.shiftKey ? (this.#anchor ?? line) : line;
    this.#anchor = anchor;
    const selection = { first: Math.min(anchor, line), last: Math.max(anchor, line) };
    this.#select(selection, { scroll: false });
  }

  /** @param selection null: no line any more */
  #select(selection: Selection | null, { scroll }: { readonly scroll: boolean }): void {
    history.replaceState(null, '', addressOf(selection));
    this.#show({ scroll });
  }

  #show({ scroll }: { readonly scroll: boolean }): void {
    const selection = selectionOf(location.hash);
    if ('highlights' in CSS) CSS.highlights.delete('selected-lines');
    if (selection === null) return announce(null);
    this.#anchor ??= selection.first;
    const start = this.#find(selection.first);
    const end = this.#find(selection.last);
    if (start === null || end === null) return announce(selection, { exists: false });
    announce(selection, { exists: true });
    if ('highlights' in CSS) CSS.highlights.set('selected-lines', new Highlight(rangeOf(start, end)));
    if (scroll) this.#scrollTo(start);
  }

  #scrollTo({ chunk, row }: { readonly chunk: HTMLElement; readonly row: number }): void {
    // Chunks above have estimated heights until they were shown once: the second step finds the real ones.
    for (const step of [0, 100]) {
      setTimeout(() => {
        scrollBy({ top: chunk.getBoundingClientRect().top + row * LINE_PX - innerHeight / 3 });
      }, step);
    }
  }

  #find(line: number) {
    const firsts = this.#firstLines();
    let index = firsts.findLastIndex((first) => first <= line);
    while (index > 0 && firsts[index - 1] === firsts[index]) index -= 1;
    const chunk = this.#chunks[index];
    const node = chunk?.querySelector('pre')?.firstChild;
    if (chunk === undefined || !(node instanceof Text)) return null;
    const row = line - (firsts[index] ?? 1);
    const offset = offsetOf(node.data, row);
    if (offset === null) return null;
    const end = node.data.indexOf('\n', offset);
    return { chunk, node, row, offset, endOffset: end === -1 ? node.data.length : end };
  }

  /** A part of a folded line has no number of its own: it counts as the line of the part before it. */
  #firstLines(): readonly number[] {
    let line = 1;
    this.#firsts ??= [...this.#content.querySelectorAll('.numbers')].map((numbers) => {
      line = Number.parseInt(numbers.textContent ?? '', 10) || line;
      return line;
    });
    return this.#firsts;
  }
}

interface Place {
  readonly node: Text;
  readonly offset: number;
  readonly endOffset: number;
}

function rangeOf(start: Place, end: Place): Range {
  const range = new Range();
  range.setStart(start.node, start.offset);
  range.setEnd(end.node, end.endOffset);
  return range;
}

/** Says which lines are selected, for those who don't see them. */
function announce(selection: Selection | null, { exists } = { exists: false }): void {
  const status = element('selected-lines', HTMLElement);
  const { one = '', several = '', missing = '' } = status.dataset;
  if (selection === null) {
    status.textContent = '';
    return;
  }
  const { first, last } = selection;
  const text = exists ? (first === last ? one : several) : missing;
  status.textContent = text.replace('{first}', String(first)).replace('{last}', String(last));
}

function offsetOf(text: string, row: number): number | null {
  let offset = 0;
  for (let i = 0; i < row; i += 1) {
    offset = text.indexOf('\n', offset) + 1;
    if (offset === 0) return null;
  }
  return offset;
}

/** The form that selects lines with the keyboard: `12`, `12-20`, and nothing for no line. */
function lineForm(select: (selection: Selection | null) => void): void {
  const form = optional('line-form', HTMLFormElement);
  if (form === null) return; // the page of a paste that was deleted by its read has no addresses of lines
  const input = element('lines', HTMLInputElement);
  form.hidden = false;
  input.addEventListener('input', () => input.setCustomValidity(''));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const text = input.value.trim();
    const [, from, to] = /^L?(\d{1,9})(?: ?[-–:,] ?L?(\d{1,9}))?$/i.exec(text) ?? [];
    if (from === undefined && text !== '') {
      input.setCustomValidity(form.dataset['wrong'] ?? '');
      input.reportValidity();
      return;
    }
    select(from === undefined ? null : ordered(Number(from), Number(to ?? from)));
  });
}

function ordered(a: number, b: number): Selection {
  return { first: Math.max(1, Math.min(a, b)), last: Math.max(1, a, b) };
}
