import { element, optional } from '../element.ts';
import { addKey } from '../sealed/encryption-option.ts';
import { isFor } from './draft.ts';

/** The answer to a creation. */
interface Created {
  readonly markup: string;
  /** The name of the user who was signed in; empty: nobody. */
  readonly writer: string;
}

/**
 * Shows the answer in place of the form, also after a reload: the answer is a part of this entry of the
 * history. A browser may write it to its disk, and give it to a closed tab that is opened again.
 */
export function keepCreated(created: Created): void {
  showCreated(created.markup);
  keep(created, '#created'); // with an address of its own, because the link to a new form keeps the entry of the same address
  addEventListener('hashchange', () => keep(created)); // the link that skips the navigation makes another entry
}

/**
 * The answer that this entry of the history has. That of another user is forgotten.
 * @param viewer who is signed in now; empty: nobody
 */
export function keptCreated(viewer: string): Created | null {
  const { created = null } = (history.state ?? {}) as { readonly created?: Created };
  if (created !== null && isFor(created.writer, viewer)) return created;
  history.replaceState(null, '');
  return null;
}

function keep(created: Created, address = ''): void {
  history.replaceState({ created }, '', address);
}

/**
 * @param key of an encrypted paste. Only this page knows it, because a browser may write to its disk what the
 * history keeps
 */
export function showCreated(markup: string, key: string | null = null): void {
  const { answer, main } = readPage(markup);
  if (key !== null) {
    addKey(answer, key);
    optional('languages', HTMLFormElement)?.remove(); // its reload would lose the key
  }
  document.title = answer.title;
  const { lang, dir } = answer.documentElement;
  Object.assign(main, { lang, dir }); // the reader may have chosen another language meanwhile
  element('main', HTMLElement).replaceWith(main);
  main.focus();
  for (const script of answer.querySelectorAll<HTMLScriptElement>('script[src]')) void import(script.src);
}

/** @throws Error for what is no page of this service */
export function readPage(markup: string): { readonly answer: Document; readonly main: HTMLElement } {
  const answer = new DOMParser().parseFromString(markup, 'text/html');
  const main = answer.querySelector('main');
  if (main === null) throw new Error('The answer is no page of this service.');
  return { answer, main };
}
