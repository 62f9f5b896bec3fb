import { compareLines } from './compare.ts';
import { hunksOf, type Hunk } from './hunks.ts';
import { linesOf, withoutReturn } from './lines.ts';

/** For this many lines the comparison takes up to 10 ms of CPU time, and with the page of all of them 12 to 19 ms. */
export const MAX_DIFF_LINES = 5000;

export interface ContentDiff {
  readonly hunks: readonly Hunk[];
  /** Lines that count as equal have other line ends: CR LF in one of the texts, and LF in the other. */
  readonly lineEndsDiffer: boolean;
}

/**
 * The changes from one content to another.
 * @param lineEnds whether a line with CR LF equals one with LF: a patch needs the bytes, but a person who changed one line in a browser,
 *   which writes LF, looks for that line
 * @returns null when the contents have too many lines, or too many of their lines were moved
 */
export function diffContents(
  { from, to }: { readonly from: Buffer; readonly to: Buffer },
  lineEnds: 'exact' | 'ignored',
): ContentDiff | null {
  const [oldLines, newLines] = [linesOf(from, MAX_DIFF_LINES), linesOf(to, MAX_DIFF_LINES)];
  if (oldLines === null || newLines === null) return null;
  const compared = (lines: readonly string[]): readonly string[] =>
    lineEnds === 'exact' ? lines : lines.map(withoutReturn);
  const [oldCompared, newCompared] = [compared(oldLines), compared(newLines)];
  const comparison = compareLines(oldCompared, newCompared);
  if (comparison === null) return null;
  const { keptOld, keptNew } = comparison;
  const returnsOf = (lines: readonly string[], kept: Uint8Array): number =>
    lines.filter((line, index) => kept[index] === 1 && line.endsWith('\r\n')).length;
  return {
    hunks: hunksOf(oldCompared, newCompared, comparison),
    lineEndsDiffer: lineEnds === 'ignored' && returnsOf(oldLines, keptOld) !== returnsOf(newLines, keptNew),
  };
}
