import { element } from '../element.ts';
import { addKey } from '../sealed/encryption-option.ts';
import { isFor } from './draft.ts';

/** The answer to a creation. */
interface Created {
  readonly markup: string;
  /** The key of an encrypted paste, which only this page knows. */
  readonly key: string | null;
  /** The name of the user who was signed in; empty: nobody. */
  readonly writer: string;
}

/** Shows the answer in place of the form, also after a reload: it is a part of this entry of the history, which ends with the tab. */
export function keepCreated(created: Created): void {
  showCreated(created);
  keep(created, '#created'); // with an address of its own, because the link to a new form keeps the entry of the same address
}

/** The answer that this entry of the history has. @param viewer who is signed in now; empty: nobody */
export function keptCreated(viewer: string): Created | null {
  const { created = null } = (history.state ?? {}) as { readonly created?: Created };
  return created !== null && isFor(created.writer, viewer) ? created : null;
}

function keep(created: Created, address = ''): void {
  history.replaceState({ created }, '', address);
}

export function showCreated(created: Created): void {
  const { answer, main } = readPage(created.markup);
  if (created.key !== null) addKey(answer, created.key);
  document.title = answer.title;
  element('main', HTMLElement).replaceWith(main);
  main.focus();
  for (const script of answer.querySelectorAll<HTMLScriptElement>('script[src]')) void import(script.src);
  addEventListener('hashchange', () => keep(created)); // the link that skips the navigation makes another entry
}

/** @throws Error for what is no page of this service */
export function readPage(markup: string): { readonly answer: Document; readonly main: HTMLElement } {
  const answer = new DOMParser().parseFromString(markup, 'text/html');
  const main = answer.querySelector('main');
  if (main === null) throw new Error('The answer is no page of this service.');
  return { answer, main };
}
