import { showRelativeTimes } from './browser-facts.ts';
import { startCopyButtons } from './copy.ts';
import { element } from './element.ts';
import { followPage } from './follow-page.ts';
import { announce, followRows, updateOpenRows } from './follow-rows.ts';

const deliveries = element('deliveries', HTMLElement);

showRelativeTimes();
startCopyButtons();
if ('open' in deliveries.dataset) followPage(update);
else followRows();

/** Shows what is new above what is there, which keeps the focus. @returns whether more can come */
function update(next: Document): boolean {
  const newer = next.getElementById('deliveries');
  if (newer === null) return true;
  for (const id of ['state', 'trouble']) {
    const [old, now] = [document.getElementById(id), next.getElementById(id)];
    if (now !== null && old?.innerHTML !== now.innerHTML) old?.replaceWith(now);
  }
  updateOpenRows(next);
  showNew([...newer.querySelectorAll('.rows > li')], newer);
  return 'open' in newer.dataset;
}

function showNew(rows: readonly Element[], newer: Element): void {
  const first = rows.findIndex(({ id }) => document.getElementById(id) !== null);
  const added = first === -1 ? rows : rows.slice(0, first);
  const [newest] = added;
  if (newest === undefined) return;
  if (first === -1) deliveries.replaceChildren(...newer.childNodes);
  else deliveries.querySelector('.rows')?.prepend(...added);
  for (const { id } of added) showRelativeTimes(`#${id} time`);
  announce(newest);
}
