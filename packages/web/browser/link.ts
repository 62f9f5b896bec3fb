import { copyShown } from './copy.ts';

/** Whether programs of a phone take links. Other systems have a sheet, too, but their users copy. */
export const canShare = (): boolean =>
  'share' in navigator && matchMedia('(hover: none) and (pointer: coarse)').matches;

/**
 * A button that copies the link which it names. On a phone it opens the sheet of the system, which also copies.
 * @param part of the address behind the link, when the button is pressed
 */
export function startLink(button: HTMLButtonElement, part = (): string => ''): HTMLButtonElement {
  const { url = '', done = '', failed = '', share = '' } = button.dataset;
  const copy = (): void => void copyShown(button, () => url + part(), { done, failed });
  const isShared = canShare();
  if (isShared) button.textContent = share;
  button.hidden = false;
  button.addEventListener('click', () => {
    if (!isShared) copy();
    else
      navigator.share({ title: document.title, url: url + part() }).catch((error: Error) => {
        if (error.name !== 'AbortError') copy(); // the reader may also have closed the sheet
      });
  });
  return button;
}
