import { keptToken } from './delete-tokens.ts';
import { optional } from './element.ts';

// What only this browser knows: the time, and the delete tokens of the pastes that it has created.

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];

/** Shows times of the page relative to now, with the exact local time as the tooltip, and on paper as they are. */
export function showRelativeTimes(selector = ':is(.facts, .line) time'): void {
  for (const time of document.querySelectorAll(selector)) {
    const date = new Date(time.getAttribute('datetime') ?? '');
    const { lang } = time.closest<HTMLElement>('[lang]') ?? document.documentElement;
    time.setAttribute('title', date.toLocaleString(lang));
    const shown = relative((date.getTime() - Date.now()) / 1000, lang);
    const exact = Object.assign(document.createElement('span'), { className: 'paper' });
    exact.append(...time.childNodes);
    time.append(Object.assign(document.createElement('span'), { textContent: shown }), exact);
  }
}

function relative(seconds: number, language: string): string {
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
  const [unit, length] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? ['second', 1];
  return format.format(Math.round(seconds / length), unit);
}

/** Fills in the delete token, in the browser that has created the paste. @returns whether it has */
export function fillToken(): boolean {
  const field = optional('delete_token', HTMLInputElement);
  if (field === null) return false;
  const token = keptToken(field.dataset['path'] ?? field.form?.getAttribute('action') ?? '');
  field.value = token ?? field.value;
  return token !== null;
}
