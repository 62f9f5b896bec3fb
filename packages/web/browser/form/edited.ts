import { fillToken } from '../browser-facts.ts';
import { optional } from '../element.ts';
import { readPage } from './created.ts';
import { forgetDraft } from './draft.ts';

// What the form of a newer version does besides that of a new paste.

/** The delete token of the anonymous paste that is edited; empty: it has an owner. */
export function tokenOfEdited(): string {
  return optional('delete_token', HTMLInputElement)?.value ?? '';
}

/**
 * Another writer has saved a version meanwhile. The form names it, and the next Save supersedes it.
 * @returns null: it is the page of another refusal
 */
export function conflictOf(answer: Document): readonly ChildNode[] | null {
  const conflict = answer.getElementById('conflict');
  const edited = answer.getElementById('edited');
  if (conflict === null || edited === null) return null;
  document.getElementById('conflict')?.remove(); // that of an earlier version
  document.getElementById('edited')?.replaceWith(edited);
  fillToken();
  return [...conflict.childNodes];
}

/** Opens the new version, which needs no further click. @returns false: its delete token must be shown first */
export function openSaved(markup: string): boolean {
  const { main } = readPage(markup);
  const url = main.querySelector('#url')?.getAttribute('value') ?? null;
  if (url === null || main.querySelector('#delete-token') !== null) return false;
  forgetDraft();
  location.assign(url);
  return true;
}
