import { element, optional } from '../element.ts';
import type { Selection } from './selection.ts';

/** The form that selects lines with the keyboard: `12`, `12-20`, and nothing for no line. */
export function lineForm(select: (selection: Selection | null) => void): void {
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
