import { element } from '../element.ts';
import { detected } from './detect.ts';

/** Somebody who types gets the answer when they pause. */
const PAUSE_MS = 200;

/** The choice of the language. Its first option names the language that is detected. */
export class SyntaxField {
  readonly #select = element('syntax', HTMLSelectElement);
  readonly #option = this.#select.options[0];
  readonly #undetected = this.#option?.textContent ?? '';
  readonly #read: () => Parameters<typeof detected>[0];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(read: () => Parameters<typeof detected>[0]) {
    this.#read = read;
  }

  /** The language to send; empty: none is chosen, and none is certain. */
  get value(): string {
    return this.#select.value || (this.#show()?.id ?? '');
  }

  changed(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#show(), PAUSE_MS);
  }

  #show() {
    const language = detected(this.#read());
    const words = this.#option?.dataset['detected'] ?? '';
    const name = language === null ? this.#undetected : words.replace('{name}', language.name);
    if (this.#option !== undefined && this.#option.textContent !== name) this.#option.textContent = name;
    return language;
  }
}

/** The time of `insertText` grows with the square of the lines: 2,000 take the browser half a minute. */
const MAX_UNDONE_LINES = 300;

/**
 * Indents the selected lines by a tab, or takes one tab or up to four spaces away. Without a selection, a tab
 * goes where the cursor is. The browser can undo both, except for many lines, which the other direction takes
 * back.
 */
export function indent(text: HTMLTextAreaElement, direction: 'in' | 'out'): void {
  const { value, selectionStart: start, selectionEnd: end } = text;
  if (direction === 'in' && start === end) {
    insert('\t');
    return;
  }
  const from = start === 0 ? 0 : value.lastIndexOf('\n', start - 1) + 1;
  // The line on which a selection ends is a part of it only when one of its characters is.
  const lastSelected = end > start && value[end - 1] === '\n' ? end - 1 : end;
  const newline = value.indexOf('\n', lastSelected);
  const to = newline === -1 ? value.length : newline;
  const lines = value.slice(from, to).split('\n');
  const changed = lines.map((line) => (direction === 'in' ? indented(line) : line.replace(INDENT, '')));
  const replacement = changed.join('\n');
  if (replacement === value.slice(from, to)) return;
  if (lines.length > MAX_UNDONE_LINES) {
    text.setRangeText(replacement, from, to);
    text.dispatchEvent(new Event('input', { bubbles: true }));
  } else {
    text.setSelectionRange(from, to);
    insert(replacement);
  }
  if (start === end) {
    const cursor = Math.max(from, start - (to - from - replacement.length));
    text.setSelectionRange(cursor, cursor);
  } else text.setSelectionRange(from, from + replacement.length);
}

const INDENT = /^(?:\t| {1,4})/;

const indented = (line: string): string => (line === '' ? line : `\t${line}`);

/**
 * Replaces the selection. No other way goes through the browser's history, and all browsers have this one.
 */
function insert(replacement: string): void {
  // oxlint-disable-next-line typescript/no-deprecated
  document.execCommand(replacement === '' ? 'delete' : 'insertText', false, replacement);
}

/** The reasons on the page of a problem. Its links and buttons belong to that page. @param isTitled with its title */
export function reasonsOf(main: HTMLElement, isTitled: boolean): readonly HTMLElement[] {
  const hasTitle = isTitled && main.querySelector('li') === null;
  const parts = `${hasTitle ? 'h1, ' : ''}.reason p, p.reason, li`;
  return [...main.querySelectorAll(parts)].map((each) => {
    const shown = document.createElement('p');
    shown.append(...each.childNodes); // a part may be in another language
    return shown;
  });
}

/**
 * Nobody has made the paste: it would belong to another user than the page names, or to nobody. Its button sends
 * the form for the user who is signed in now.
 * @param onTaken gets the name of that user; empty: nobody
 * @returns null: it is the page of another refusal
 */
export function otherUserOf(
  answer: Document,
  formUser: HTMLInputElement,
  onTaken: (viewer: string) => void,
): readonly ChildNode[] | null {
  const shown = answer.getElementById('other-user');
  shown?.querySelector('button')?.addEventListener('click', () => {
    const now = answer.querySelector<HTMLFormElement>('#new-paste');
    formUser.value = now?.querySelector<HTMLInputElement>('[name=form_user]')?.value ?? '';
    onTaken(now?.dataset['viewer'] ?? '');
    for (const part of ['header.site nav', 'header.site .account'])
      document.querySelector(part)?.replaceWith(answer.querySelector(part) ?? '');
  });
  return shown === null ? null : [...shown.childNodes];
}
