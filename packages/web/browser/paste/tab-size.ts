import { element } from '../element.ts';
import { keep, kept } from '../preferences.ts';

/** The choice holds for all pages. Without one, the language decides. */
export function startTabSize(form: HTMLFormElement): void {
  const select = element('tabs', HTMLSelectElement);
  const show = (): void => {
    select.value = kept('tabs') ?? '';
  };
  show();
  addEventListener('pageshow', show); // the browser may restore what another paste had
  form.hidden = false;
  form.addEventListener('submit', (event) => event.preventDefault());
  select.addEventListener('change', () => {
    keep('tabs', select.value);
    document.documentElement.dataset['tabs'] = select.value;
  });
}
