/** What was measured at one time: for each measure its value, and how much it may vary without a leak. */
export interface Reading {
  /** By a monotonic clock. */
  readonly atMs: number;
  readonly measures: ReadonlyMap<string, { readonly value: number; readonly noise: number }>;
}

export interface Trend {
  readonly name: string;
  readonly start: number;
  readonly end: number;
  /** The growth in the observed time, by the median slope. */
  readonly growth: number;
  readonly allowed: number;
}

/** Nothing that is in a steady state grows by that much in an hour. */
const MAX_GROWTH_PER_HOUR = 0.02;

export function trendsOf(readings: readonly Reading[]): readonly Trend[] {
  const times = readings.map(({ atMs }) => atMs);
  const ms = (times.at(-1) ?? 0) - (times[0] ?? 0);
  const names = [...new Set(readings.flatMap(({ measures }) => [...measures.keys()]))].toSorted();
  return names.map((name): Trend => {
    const values = readings.map(({ measures }) => measures.get(name)?.value ?? 0);
    const noise = Math.max(...readings.map(({ measures }) => measures.get(name)?.noise ?? 0));
    const [start, end] = [median(values.slice(0, FEW)), median(values.slice(-FEW))];
    const growth = medianSlope(times, values) * ms;
    return { name, start, end, growth, allowed: noise + (start * MAX_GROWTH_PER_HOUR * ms) / 3_600_000 };
  });
}

const FEW = 5;

/**
 * The median of the slopes of all pairs of points (Theil and Sen). Outliers do not move it: a quarter of the
 * values may be anything.
 */
function medianSlope(times: readonly number[], values: readonly number[]): number {
  const points = values.map((value, index) => ({ value, at: times[index] ?? NaN }));
  return median(
    points.flatMap((later, index) =>
      points.slice(0, index).map((before) => (later.value - before.value) / (later.at - before.at)),
    ),
  );
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
}
