import { readFileSync, writeFileSync } from 'node:fs';
import { valueOf, type Figure } from './figure.ts';

/** What the short benchmark is compared with. Both are counted: a slow machine changes neither. */
interface Baseline {
  /** The CPU time of a create until the paste is stored, divided by that of the controls in the same run. */
  readonly cpuRatio: number;
  readonly walBytes: number;
}

interface Committed extends Pick<Baseline, 'walBytes'> {
  /** null: not compared, because it has not been measured on a calm machine. A busy one makes the controls dearer than the services. */
  readonly cpuRatio: number | null;
}

const FILE = new URL('../../bench-baseline.json', import.meta.url);
const MAX_GROWTH = 0.15;

/** The best of several rounds: what else the machine does can only make a round worse. */
export function baselineOf(rounds: readonly (readonly Figure[])[]): Baseline {
  const each = rounds.map(measuredIn);
  return {
    cpuRatio: Math.min(...each.map(({ cpuRatio }) => cpuRatio)),
    walBytes: Math.min(...each.map(({ walBytes }) => walBytes)),
  };
}

function measuredIn(figures: readonly Figure[]): Baseline {
  const control =
    valueOf(figures, 'bare Express: CPU of a POST') +
    valueOf(figures, 'bare S3 client: CPU of a put') +
    valueOf(figures, 'bare INSERT: CPU of Postgres');
  return {
    cpuRatio: valueOf(figures, 'CPU of a create until it is stored') / control,
    walBytes: valueOf(figures, 'WAL of a create'),
  };
}

export function writeBaseline(baseline: Baseline): void {
  writeFileSync(FILE, `${JSON.stringify(baseline, null, 2)}\n`);
}

/** Compares with the committed baseline; a line for each value that grew too much. */
export function growths(measured: Baseline): string[] {
  const committed = JSON.parse(readFileSync(FILE, 'utf8')) as Committed;
  const names = { cpuRatio: 'CPU time of a create, in controls', walBytes: 'bytes of WAL of a create' };
  return (Object.keys(names) as (keyof Baseline)[]).flatMap((key) => {
    const before = committed[key];
    if (before === null) return [];
    const growth = measured[key] / before - 1;
    if (growth <= MAX_GROWTH) return [];
    return [
      `${names[key]}: ${measured[key].toFixed(2)}, ${Math.round(growth * 100)} % more than the baseline of ${before.toFixed(2)}`,
    ];
  });
}
