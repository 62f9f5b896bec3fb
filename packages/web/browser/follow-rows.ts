import { showRelativeTimes } from './browser-facts.ts';
import { optional } from './element.ts';
import { followPage } from './follow-page.ts';

let isFollowing = false;

/** Shows what becomes of the open rows of a list, until all have ended. */
export function followRows(): void {
  if (isFollowing || openRows().length === 0) return;
  isFollowing = true;
  followPage((next) => (isFollowing = updateOpenRows(next)));
}

/** @returns whether one is still open */
export function updateOpenRows(next: Document): boolean {
  openRows().forEach((row) => update(row, next));
  return openRows().length > 0;
}

const openRows = (): readonly HTMLElement[] => [
  ...document.querySelectorAll<HTMLElement>('.rows > [data-open]'),
];
const partsOf = (row: HTMLElement): readonly HTMLElement[] => [
  ...row.querySelectorAll<HTMLElement>('[data-part]'),
];

/** What is no longer in the list, because the filter leaves out its new state, keeps its row. */
function update(row: HTMLElement, next: Document): void {
  const newer = next.getElementById(row.id);
  if (newer === null) return;
  const parts = partsOf(newer);
  partsOf(row).forEach((part, index) => part.replaceWith(parts[index]?.cloneNode(true) ?? part));
  showRelativeTimes(`#${row.id} time`);
  if (newer.hasAttribute('data-open')) return;
  row.removeAttribute('data-open');
  announce(row);
}

/** Says to who hears the page what a row is about, and how far it is. */
export function announce(row: Element): void {
  const ended = optional('ended', HTMLElement);
  if (ended !== null)
    ended.textContent = [row.querySelector('a'), row.querySelector('.badge')]
      .map((each) => each?.textContent)
      .join(': ');
}
