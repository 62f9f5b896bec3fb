import { element, optional } from './element.ts';
import { keep, kept } from './preferences.ts';

/**
 * Single keys press what has them as its `aria-keyshortcuts`, or go to that field. People who dictate, and those whose keyboards
 * have no use for them, switch the keys off (WCAG 2.2, 2.1.4).
 * @param button opens the list of the keys
 */
function startKeys(button: HTMLButtonElement): void {
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
    if (pressed instanceof HTMLInputElement) {
      pressed.focus();
      pressed.select();
    } else pressed.click();
  });
}

/** The key belongs to a field or to the list of the keys. */
function isWritten(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input, textarea, select, dialog') !== null;
}

function withKeys(): readonly HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>('[aria-keyshortcuts]:not([hidden])')];
}

/** What every page has: the choice of the colours and of the language, the keys, menus that close, and files. */

const THEMES = ['auto', 'light', 'dark'];

function startTheme(): void {
  const button = element('theme', HTMLButtonElement);
  const names = JSON.parse(button.dataset['names'] ?? '{}') as Readonly<Record<string, string>>;
  const bars = [...document.querySelectorAll<HTMLMetaElement>('meta[name=theme-color]')]; // light, dark
  const colours = bars.map(({ content }) => content);
  const show = (theme: string): void => {
    const { dataset } = document.documentElement;
    const chosen = theme === 'auto' ? undefined : colours[theme === 'light' ? 0 : 1];
    bars.forEach((bar, index) => (bar.content = chosen ?? colours[index] ?? ''));
    if (theme === 'auto') delete dataset['theme'];
    else dataset['theme'] = theme;
    button.title = names[theme] ?? '';
    button.setAttribute('aria-label', button.title);
  };
  show(kept('theme') ?? 'auto');
  button.hidden = false;
  button.addEventListener('click', () => {
    const theme = THEMES[(THEMES.indexOf(kept('theme') ?? 'auto') + 1) % THEMES.length] ?? 'auto';
    keep('theme', theme);
    show(theme);
  });
}

/** A menu closes at Esc, and when anything is pressed but a button that shows there whether it worked. */
function startMenus(): void {
  const close = ({ target }: Event): void => {
    for (const menu of document.querySelectorAll<HTMLDetailsElement>('details.menu[open]'))
      if (!menu.contains(target as Node) || isDone(target as Element)) menu.open = false;
  };
  addEventListener('click', close);
  addEventListener('keydown', (event) => {
    const menu = document.querySelector<HTMLDetailsElement>('details.menu[open]');
    if (event.key !== 'Escape' || menu === null) return;
    menu.open = false;
    menu.querySelector('summary')?.focus();
  });
}

const isDone = (target: Element): boolean => target.closest('.menu > div > button:not([data-done])') !== null;

/** A reload keeps what only this page has: the draft of a form, and the key of an encrypted paste. */
function startLanguages(): void {
  const form = optional('languages', HTMLFormElement);
  form?.addEventListener('submit', (event) => {
    event.preventDefault();
    const body = new URLSearchParams({ next: '/', language: (event.submitter as HTMLButtonElement).value });
    void fetch(form.action, { method: 'POST', body, redirect: 'manual' }).then(() => location.reload());
  });
}

/** The link that skips the navigation would replace what is behind `#`: the key of an encrypted paste, or the lines that are selected. */
function startSkipLink(): void {
  document.querySelector('.skip')?.addEventListener('click', (event) => {
    event.preventDefault();
    element('main', HTMLElement).focus();
  });
}

/** A file that is too large is refused before it is sent. The browser then says why, and sends nothing. */
function startFiles(): void {
  for (const input of document.querySelectorAll<HTMLInputElement>('input[data-max-bytes]'))
    input.addEventListener('change', () => {
      const { maxBytes = '', tooLarge = '' } = input.dataset;
      const [file] = input.files ?? [];
      input.setCustomValidity(file !== undefined && file.size > Number(maxBytes) ? tooLarge : '');
      input.reportValidity();
    });
}

/** Before the other modules look at the address: its part behind `#`, which was kept while the reader signed in. */
function bringBackPart(): void {
  try {
    const kept = sessionStorage.getItem('pasteflow-part');
    if (!kept?.startsWith(`${location.pathname}${location.search}#`)) return;
    sessionStorage.removeItem('pasteflow-part');
    if (location.hash === '') history.replaceState(null, '', kept);
  } catch {} // the browser stores nothing
}

if (document.querySelector('[data-back]') === null) bringBackPart();
else void import('./keep-part.ts').then(({ keepPart }) => keepPart());
startTheme();
startMenus();
startLanguages();
startFiles();
startSkipLink();
const keys = optional('keys', HTMLButtonElement);
if (keys !== null) startKeys(keys);
