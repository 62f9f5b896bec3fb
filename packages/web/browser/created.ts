import { copyShown } from './copy.ts';

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
