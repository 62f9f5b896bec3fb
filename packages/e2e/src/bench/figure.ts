/** One measured value. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
}

export function figure(name: string, value: number, unit: string): Figure {
  return { name, value, unit };
}

/** The middle of each figure over several runs of the same measurement. */
export function medians(runs: readonly (readonly Figure[])[]): Figure[] {
  const [first = []] = runs;
  return first.map(({ name, unit }) => {
    const values = runs.map((run) => valueOf(run, name)).toSorted((a, b) => a - b);
    return figure(name, values[Math.floor(values.length / 2)] ?? NaN, unit);
  });
}

/** @throws when there is no such figure */
export function valueOf(figures: readonly Figure[], name: string): number {
  const found = figures.find((each) => each.name === name);
  if (found === undefined) throw new Error(`there is no figure "${name}"`);
  return found.value;
}
