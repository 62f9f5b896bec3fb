import { copyShown } from './copy.ts';
import { optional } from './element.ts';
import { showRelativeTimes } from './browser-facts.ts';

// Without this module each paste is selected by itself.
showRelativeTimes();
const boxes = [...document.querySelectorAll<HTMLInputElement>('input[name="short_code"]')];
const all = optional('select-all', HTMLInputElement);
const button = optional('delete-selected', HTMLButtonElement);
const shown = optional('selected', HTMLElement);

function show(): void {
  const count = boxes.filter(({ checked }) => checked).length;
  if (button !== null) button.disabled = count === 0;
  if (shown !== null) shown.textContent = count === 0 ? '' : textOf(shown, count);
  if (all === null) return;
  all.checked = count === boxes.length;
  all.indeterminate = count > 0 && count < boxes.length;
}

function textOf({ dataset }: HTMLElement, count: number): string {
  return (dataset['words'] ?? '').replace('{count}', String(count)).replace('{all}', String(boxes.length));
}

for (const box of boxes) box.addEventListener('change', show);
if (all !== null) {
  all.labels?.forEach((label) => (label.hidden = false));
  all.addEventListener('change', () => {
    for (const box of boxes) box.checked = all.checked;
    show();
  });
}
for (const copy of document.querySelectorAll<HTMLButtonElement>('[data-copy-link]')) {
  const { copyLink = '', done = '', failed = '' } = copy.dataset;
  copy.hidden = false;
  copy.addEventListener(
    'click',
    () => void copyShown(copy, () => new URL(copyLink, location.href).href, { done, failed }),
  );
}
addEventListener('pageshow', show); // the browser restores the boxes when one goes back
