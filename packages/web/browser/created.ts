import { copyShown } from './copy.ts';
import { optional } from './element.ts';

const token = optional('delete-token', HTMLInputElement);
const link = optional('url', HTMLInputElement);
if (token !== null && link !== null) keepToken(link.value, token.value);

/** For the form that deletes the paste. The token is gone with this tab, so that the next person at a shared computer does not find it. */
function keepToken(url: string, value: string): void {
  try {
    sessionStorage.setItem(`${new URL(url).pathname}/delete`, value);
  } catch {
    // The browser keeps nothing.
  }
}

for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
  const input = document.getElementById(button.dataset['copy'] ?? '');
  if (!(input instanceof HTMLInputElement)) continue;
  input.addEventListener('focus', () => input.select());
  button.hidden = false;
  button.addEventListener('click', () => {
    const { done = '', failed = '' } = button.dataset;
    void copyShown(button, () => input.value, { done, failed });
  });
}
