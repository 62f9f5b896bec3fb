import { safeText } from './safe-text.ts';

/** The rows as lines, with the columns below each other. */
export function tableOf(rows: readonly (readonly string[])[]): readonly string[] {
  const safe = rows.map((row) => row.map(safeText));
  const widths = safe.reduce<number[]>(
    (found, row) => row.map((cell, i) => Math.max(found[i] ?? 0, cell.length)),
    [],
  );
  return safe.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
