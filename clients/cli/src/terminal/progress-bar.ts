import { safeText } from './output.ts';
import type { Terminal } from './terminal.ts';

export interface Progress {
  /** @param share from 0 to 1 */
  update(share: number, text: string): void;
  end(): void;
}

const WIDTH = 24;

/** A person sees no more than ten changes a second, and a log of a slow terminal stays short. */
const EVERY_MS = 100;

const nowhere: Progress = { update: () => {}, end: () => {} };

/** A bar in the last line of stderr; none when stderr is not a terminal. */
export function startProgress({ stderr, env }: Terminal): Progress {
  if (stderr.isTTY !== true || env.TERM === 'dumb') return nowhere;
  let drawnAt = -Infinity;
  return {
    update: (share, text) => {
      const now = performance.now();
      if (now - drawnAt < EVERY_MS) return;
      drawnAt = now;
      const line = `${barOf(share)} ${safeText(text)}`;
      stderr.write(`\r${line.slice(0, (stderr.columns ?? 80) - 1)}\u001b[K`);
    },
    end: () => {
      if (drawnAt > -Infinity) stderr.write('\r\u001b[K');
    },
  };
}

function barOf(share: number): string {
  const known = Number.isFinite(share) ? Math.min(1, Math.max(0, share)) : 0;
  const full = Math.floor(known * WIDTH);
  return `${'█'.repeat(full)}${'░'.repeat(WIDTH - full)} ${String(Math.floor(known * 100)).padStart(3)} %`;
}

/** `1.5 MiB` */
export function sizeText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}
