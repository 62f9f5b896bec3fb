import type { Language } from '@pasteflow/domain';
import type { Words } from '../words/translation.ts';
import { html, type Html } from './html.ts';

/** The words know their language. */
type In = Pick<Words, 'locale'>;

const UNITS = ['kib', 'mib', 'gib'] as const;

/** A size for people: `517 bytes`, `1.2 KiB`. */
export function formatSize(bytes: number, words: In & Pick<Words, 'units'>): string {
  if (bytes < 1024) return formatUnit(bytes, 'byte', words, 'long');
  let value = bytes;
  let unit: (typeof UNITS)[number] | undefined;
  for (const next of UNITS) {
    if (value < 1024) break;
    value /= 1024;
    unit = next;
  }
  const digits = value < 10 ? 1 : 0;
  const number = formatNumber(value, words, { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return `${number} ${words.units[unit ?? 'kib']}`;
}

/** A time for people, in UTC: `Nov 21, 2026, 12:00:00 UTC`. @param time in ISO 8601 */
export function timeText(time: string, { locale }: In): string {
  return kept(locale, () => new Intl.DateTimeFormat(locale, TIME)).format(new Date(time));
}

/** The browser module replaces the text by a relative time; this form is exact. @param time in ISO 8601 */
export function formatTime(time: string, words: In): Html {
  return html`<time datetime="${time}">${timeText(time, words)}</time>`;
}

/** A duration for people, of at most two units: `42 ms`, `1.5 sec`, `10 min`, `3 min 20 sec`, `2 days 3 hr`. */
export function formatDuration(ms: number, words: In): string {
  if (ms < 1000) return formatUnit(Math.round(ms), 'millisecond', words);
  if (ms < 60_000) return formatUnit(Number((ms / 1000).toFixed(ms < 10_000 ? 2 : 1)), 'second', words);
  const minutes = Math.floor(ms / 60_000);
  const seconds = Math.floor((ms % 60_000) / 1000);
  if (minutes < 60) return inUnits(words, [minutes, 'minute'], [seconds, 'second']);
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return inUnits(words, [hours, 'hour'], [minutes % 60, 'minute']);
  return inUnits(words, [Math.floor(hours / 24), 'day'], [hours % 24, 'hour']);
}

function inUnits(words: In, ...parts: readonly (readonly [count: number, unit: string])[]): string {
  return parts
    .filter(([count]) => count > 0)
    .map(([count, unit]) => formatUnit(count, unit, words))
    .join(' ');
}

/** A time that somebody can choose, in its largest unit without a fraction: `14 days`. */
export function formatWhole(seconds: number, words: In): string {
  const [size, unit] = WHOLE_UNITS.find(([each]) => seconds % each === 0) ?? [1, 'second'];
  return formatUnit(seconds / size, unit, words, 'long');
}

const WHOLE_UNITS = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
] as const;

/** @param unit of ECMA-402, for instance `day` */
export function formatUnit(
  count: number,
  unit: string,
  words: In,
  unitDisplay: 'short' | 'long' = 'short',
): string {
  return formatNumber(count, words, { style: 'unit', unit, unitDisplay });
}

/** How long something is still there. */
export interface Remaining {
  readonly count: number;
  readonly unit: 'minute' | 'hour' | 'day';
}

/** In the largest unit of which there is one. A minute is the least. */
export function remainingUntil(end: Date, now: number): Remaining {
  const minutes = Math.max(1, Math.round((end.getTime() - now) / 60_000));
  if (minutes < 60) return { count: minutes, unit: 'minute' };
  if (minutes < 24 * 60) return { count: Math.round(minutes / 60), unit: 'hour' };
  return { count: Math.round(minutes / (24 * 60)), unit: 'day' };
}

/** `in 30 days` */
export function formatRemaining({ count, unit }: Remaining, { locale }: In): string {
  return kept(`in ${locale}`, () => new Intl.RelativeTimeFormat(locale)).format(count, unit);
}

export function formatNumber(value: number, { locale }: In, options: Intl.NumberFormatOptions = {}): string {
  return kept(JSON.stringify([locale, options]), () => new Intl.NumberFormat(locale, options)).format(value);
}

/** Intl takes long to make a format, and a page has many numbers and times. */
const formats = new Map<string, unknown>();

function kept<T>(key: string, make: () => T): T {
  const format = (formats.get(key) as T | undefined) ?? make();
  formats.set(key, format);
  return format;
}

const TIME = {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
  timeZone: 'UTC',
  timeZoneName: 'short',
} as const;

/** The name of a language on a page. Only that of a text without a language is a word. */
export function languageName({ id, name }: Language, { paste }: Words): string {
  return id === 'text' ? paste.plainText : name;
}
