import { words } from '../words.ts';
import { html, type Html } from './html.ts';

const UNITS = ['KiB', 'MiB', 'GiB'];

/** A size for people: `517 bytes`, `1.2 KiB`. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return words.bytes(bytes);
  let value = bytes;
  let unit = -1;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value.toFixed(value < 10 ? 1 : 0)} ${UNITS[unit]}`;
}

/** `2026-11-21 12:00:00 UTC`. The browser module replaces the text by a relative time; this form is exact. */
export function formatTime(time: string): Html {
  const text = `${time.slice(0, 19).replace('T', ' ')} UTC`;
  return html`<time datetime="${time}">${text}</time>`;
}

/** A duration for people, of at most two units: `42 ms`, `1.5 s`, `10 min`, `3 min 20 s`, `2 d 3 h`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${Number((ms / 1000).toFixed(ms < 10_000 ? 2 : 1))} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return inUnits([minutes, 'min'], [Math.floor((ms % 60_000) / 1000), 's']);
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return inUnits([hours, 'h'], [minutes % 60, 'min']);
  return inUnits([Math.floor(hours / 24), 'd'], [hours % 24, 'h']);
}

function inUnits(...parts: readonly (readonly [count: number, unit: string])[]): string {
  return parts
    .filter(([count]) => count > 0)
    .map((part) => part.join(' '))
    .join(' ');
}
