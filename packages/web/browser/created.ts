import { copyShown } from './copy.ts';
import { optional } from './element.ts';

const token = optional('delete-token', HTMLInputElement);
const link = optional('url', HTMLInputElement);
if (token !== null && link !== null) keepToken(link.value, token.value);

/**
 * For the form that deletes the paste. The tab keeps the token: a browser may write it to its disk, and give
 * it to a closed tab that is opened again.
 */
function keepToken(url: string, value: string): void {
  try {
    sessionStorage.setItem(`${new URL(url).pathname}/delete`, value);
  } catch {
    // The browser keeps nothing.
  }
}

/** The link with the key of an encrypted paste is nowhere else. */
let isKeyOnlyHere = link?.value.includes('#') === true;
const onKeyTaken = (): void => void (isKeyOnlyHere = false);
addEventListener('beforeunload', (event) => {
  if (isKeyOnlyHere) event.preventDefault(); // the browser asks
});
link?.addEventListener('copy', onKeyTaken);
document.getElementById('open')?.addEventListener('click', onKeyTaken);

for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
  const input = document.getElementById(button.dataset['copy'] ?? '');
  if (!(input instanceof HTMLInputElement)) continue;
  input.addEventListener('focus', () => input.select());
  button.hidden = false;
  button.addEventListener('click', () => {
    const { done = '', failed = '' } = button.dataset;
    void copyShown(button, () => input.value, { done, failed }).then(() => {
      if (input === link && button.textContent === done) onKeyTaken();
    });
  });
}
