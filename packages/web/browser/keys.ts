import { kept } from './preferences.ts';

/**
 * Single keys press what has them as its `aria-keyshortcuts`. People who dictate, and those whose keyboards
 * have no use for them, switch the keys off (WCAG 2.2, 2.1.4).
 * @param button opens the list of the keys
 */
export function startKeys(button: HTMLButtonElement): void {
  button.hidden = false;
  button.addEventListener(
    'click',
    () => void import('./key-list.ts').then(({ showKeys }) => showKeys(button, withKeys())),
  );
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (kept('keys') === 'off' || isWritten(event.target)) return;
    const pressed = withKeys().find((each) => each.ariaKeyShortcuts === event.key);
    if (pressed === undefined) return;
    event.preventDefault();
    pressed.click();
  });
}

/** The key belongs to a field or to the list of the keys. */
function isWritten(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input, textarea, select, dialog') !== null;
}

function withKeys(): readonly HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>('[aria-keyshortcuts]:not([hidden])')];
}
