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

const WIDTH = 760;
const ROW = 22;
const LABEL = 380;
const BAR = 280;

/** The figures in one unit as bars, in SVG. */
export function barChart(title: string, figures: readonly Figure[]): string {
  const most = Math.max(...figures.map(({ value }) => value));
  const rows = figures.map(({ name, value, unit }, n) => {
    const y = 40 + n * ROW;
    const length = Math.max(1, (BAR * value) / most);
    return [
      `<text x="${LABEL - 8}" y="${y + 14}" text-anchor="end">${escaped(name)}</text>`,
      `<rect x="${LABEL}" y="${y + 2}" width="${length.toFixed(1)}" height="${ROW - 6}"/>`,
      `<text x="${(LABEL + length + 6).toFixed(1)}" y="${y + 14}">${value.toFixed(2)} ${escaped(unit)}</text>`,
    ].join('\n');
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${50 + figures.length * ROW}" font-family="sans-serif" font-size="12">
<style>rect { fill: #4a7ebb } text { fill: #777 }</style>
<text x="8" y="22" font-size="15">${escaped(title)}</text>
${rows.join('\n')}
</svg>
`;
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
