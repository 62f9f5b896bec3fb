import { readFileSync, writeFileSync } from 'node:fs';

/** One measurement of creates and of the controls. */
export interface Round {
  /** The CPU time of a create until the paste is stored. */
  readonly createMs: number;
  /** The CPU time of what a create needs at least: a request, a put and an insert. */
  readonly controlMs: number;
  /** Of a create. */
  readonly walBytes: number;
}

/** What the short benchmark is compared with. */
interface Baseline {
  /** The CPU time of a create, divided by that of the controls in the same run: a slow machine slows both. */
  readonly cpuRatio: number;
  readonly walBytes: number;
}

const FILE = new URL('../../bench-baseline.json', import.meta.url);
const MAX_GROWTH = 0.15;

/**
 * Of the CPU time, the sum of all rounds divided by that of their controls: a single round deviates by up to
 * 10 % on a busy machine. Of the WAL, the least: a checkpoint makes a round write whole pages.
 */
export function baselineOf(rounds: readonly Round[]): Baseline {
  const sum = (part: 'createMs' | 'controlMs'): number =>
    rounds.reduce((total, round) => total + round[part], 0);
  return {
    cpuRatio: sum('createMs') / sum('controlMs'),
    walBytes: Math.min(...rounds.map(({ walBytes }) => walBytes)),
  };
}

export function writeBaseline(baseline: Baseline): void {
  writeFileSync(FILE, `${JSON.stringify(baseline, null, 2)}\n`);
}

/** Compares with the committed baseline. @returns a line for each value, and whether one grew too much */
export function compare(measured: Baseline): { readonly lines: readonly string[]; readonly isGood: boolean } {
  const committed = JSON.parse(readFileSync(FILE, 'utf8')) as Baseline;
  const growth = (part: keyof Baseline): number => measured[part] / committed[part] - 1;
  const percent = (part: keyof Baseline): string =>
    growth(part).toLocaleString('en', { style: 'percent', signDisplay: 'always' });
  const lineOf = (name: string, part: keyof Baseline): string =>
    `${name}: ${measured[part].toFixed(2)}, in the baseline ${committed[part].toFixed(2)}: ${percent(part)}`;
  return {
    lines: [
      lineOf('CPU time of a create, divided by that of the controls', 'cpuRatio'),
      lineOf('bytes of WAL of a create', 'walBytes'),
    ],
    isGood: growth('cpuRatio') <= MAX_GROWTH && growth('walBytes') <= MAX_GROWTH,
  };
}
