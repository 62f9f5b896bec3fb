import { copyShown } from './copy.ts';
import { element, optional } from './element.ts';
import { showRelativeTimes } from './browser-facts.ts';
import { startFilter } from './live-filter.ts';

const found = element('found', HTMLElement);

/** Makes the list that the page shows work. Without this module each paste is selected by itself. */
function startList(): void {
  const boxes = [...found.querySelectorAll<HTMLInputElement>('input[name="short_code"]')];
  const all = optional('select-all', HTMLInputElement);
  const button = optional('delete-selected', HTMLButtonElement);
  const shown = optional('selected', HTMLElement);

  function show(): void {
    const count = boxes.filter(({ checked }) => checked).length;
    if (button !== null) button.disabled = count === 0;
    if (shown !== null) shown.textContent = count === 0 ? '' : textOf(shown, count, boxes.length);
    if (all === null) return;
    all.checked = count === boxes.length;
    all.indeterminate = count > 0 && count < boxes.length;
  }

  showRelativeTimes('#found .line time');
  for (const box of boxes) box.addEventListener('change', show);
  if (all !== null) {
    all.labels?.forEach((label) => (label.hidden = false));
    all.addEventListener('change', () => {
      for (const box of boxes) box.checked = all.checked;
      show();
    });
  }
  for (const copy of found.querySelectorAll<HTMLButtonElement>('[data-copy-link]')) {
    const { copyLink = '', done = '', failed = '' } = copy.dataset;
    copy.hidden = false;
    copy.addEventListener(
      'click',
      () => void copyShown(copy, () => new URL(copyLink, location.href).href, { done, failed }),
    );
  }
  show();
  addEventListener('pageshow', show, { once: true }); // the browser restores the boxes when one goes back
}

function textOf({ dataset }: HTMLElement, count: number, all: number): string {
  return (dataset['words'] ?? '').replace('{count}', String(count)).replace('{all}', String(all));
}

startList();
startFilter(startList);
