import { readFileSync, writeFileSync } from 'node:fs';
import { valueOf, type Figure } from './figure.ts';

/** What the short benchmark is compared with. */
interface Baseline {
  /**
   * The CPU time of a create until the paste is stored, divided by that of the controls in the same run: a
   * slow machine slows both.
   */
  readonly cpuRatio: number;
  readonly walBytes: number;
}

const FILE = new URL('../../bench-baseline.json', import.meta.url);
const MAX_GROWTH = 0.15;

/**
 * Of the CPU time, the sum of all rounds divided by that of their controls: a single round deviates by up to
 * 10 % on a busy machine. Of the WAL, the least: a checkpoint makes a round write whole pages.
 */
export function baselineOf(rounds: readonly (readonly Figure[])[]): Baseline {
  const sum = (name: string): number => rounds.reduce((total, figures) => total + valueOf(figures, name), 0);
  const controls = CONTROLS.reduce((total, name) => total + sum(name), 0);
  return {
    cpuRatio: sum('CPU of a create until it is stored') / controls,
    walBytes: Math.min(...rounds.map((figures) => valueOf(figures, 'WAL of a create'))),
  };
}

/** What a create needs at least: a request, a put and an insert. */
const CONTROLS = [
  'bare Express: CPU of a POST',
  'bare S3 client: CPU of a put',
  'bare INSERT: CPU of Postgres',
];

export function writeBaseline(baseline: Baseline): void {
  writeFileSync(FILE, `${JSON.stringify(baseline, null, 2)}\n`);
}

/** Compares with the committed baseline; a line for each value that grew too much. */
export function growths(measured: Baseline): string[] {
  const committed = JSON.parse(readFileSync(FILE, 'utf8')) as Baseline;
  const names = { cpuRatio: 'CPU time of a create, in controls', walBytes: 'bytes of WAL of a create' };
  return (Object.keys(names) as (keyof Baseline)[]).flatMap((key) => {
    const before = committed[key];
    const growth = measured[key] / before - 1;
    if (growth <= MAX_GROWTH) return [];
    return [
      `${names[key]}: ${measured[key].toFixed(2)}, ${Math.round(growth * 100)} % more than the baseline of ${before.toFixed(2)}`,
    ];
  });
}
