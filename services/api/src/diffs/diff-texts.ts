import { compareLines, MAX_COMPARISONS, MAX_EDITS } from './compare.ts';
import { type Hunk, hunksOf } from './hunks.ts';

/** So many lines take up to 10 ms of CPU time, and a page of all of them 12 to 19 ms. */
export const MAX_DIFF_LINES = 5000;

/** What is left of the work for all texts of an answer. */
export class DiffBudget {
  oldLines = MAX_DIFF_LINES;
  newLines = MAX_DIFF_LINES;
  comparisons = MAX_COMPARISONS;
}

export interface TextDiff {
  readonly hunks: readonly Hunk[];
  /** Lines that count as equal have other line ends: CR LF in one of the texts, and LF in the other. */
  readonly lineEndsDiffer: boolean;
}

/**
 * The changes from one text to another.
 * @param lineEnds whether a line with CR LF equals one with LF: a patch needs the bytes, but a person who
 *   changed one line in a browser, which writes LF, looks for that line
 * @param budget for several texts
 * @returns null when the texts have too many lines, or too many of their lines were moved
 */
export function diffTexts(
  { from, to }: { readonly from: Buffer; readonly to: Buffer },
  lineEnds: 'exact' | 'ignored',
  budget = new DiffBudget(),
): TextDiff | null {
  const [oldLines, newLines] = [linesOf(from, budget.oldLines), linesOf(to, budget.newLines)];
  if (oldLines === null || newLines === null) return null;
  budget.oldLines -= oldLines.length;
  budget.newLines -= newLines.length;
  const compared = (lines: readonly string[]): readonly string[] =>
    lineEnds === 'exact' ? lines : lines.map(withoutReturn);
  const [oldCompared, newCompared] = [compared(oldLines), compared(newLines)];
  const bounds = { edits: MAX_EDITS, comparisons: budget.comparisons };
  const comparison = compareLines(oldCompared, newCompared, bounds);
  if (comparison === null) return null;
  budget.comparisons -= comparison.comparisons;
  const { keptOld, keptNew } = comparison;
  const returnsOf = (lines: readonly string[], kept: Uint8Array): number =>
    lines.filter((line, index) => kept[index] === 1 && line.endsWith('\r\n')).length;
  return {
    hunks: hunksOf(oldCompared, newCompared, comparison),
    lineEndsDiffer: lineEnds === 'ignored' && returnsOf(oldLines, keptOld) !== returnsOf(newLines, keptNew),
  };
}

/**
 * The lines of a text, each with its newline, which only the last one may lack. The bytes are written as
 * Latin-1, a character for each byte, so that any content can be compared and written again byte for byte.
 * @returns null when there are more lines than `maxLines`
 */
export function linesOf(content: Buffer, maxLines: number): readonly string[] | null {
  const text = content.toString('latin1');
  const lines: string[] = [];
  for (let start = 0; start < text.length;) {
    if (lines.length === maxLines) return null;
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline + 1;
    lines.push(text.slice(start, end));
    start = end;
  }
  return lines;
}

/**
 * A line without a carriage return before its newline: browsers drop those from what is typed into a form.
 */
function withoutReturn(line: string): string {
  return line.endsWith('\r\n') ? `${line.slice(0, -2)}\n` : line;
}
