import { fileNameProblems, type PasteFile } from '@pasteflow/domain';
import type { PasteRow } from '@pasteflow/postgres';
import { type Hunk, hunksOf, compareLines, MAX_COMPARISONS, MAX_EDITS } from './hunks.ts';

type WithFiles = Pick<PasteRow, 'short_code' | 'files' | 'title' | 'size_bytes' | 'syntax'>;

/** What the older paste and the newer one have. */
export interface Both<T> {
  readonly from: T;
  readonly to: T;
}

/** What has become of a file. One that has neither changed nor another name is left out. */
type FileDiff = TextDiff &
  (
    | { readonly kind: 'changed' | 'renamed'; readonly from: PasteFile; readonly to: PasteFile }
    | { readonly kind: 'added'; readonly from: null; readonly to: PasteFile }
    | { readonly kind: 'removed'; readonly from: PasteFile; readonly to: null }
  );

/**
 * The files by which two pastes are compared: a paste without files is one of its title, or of its short code
 * where that is no name of a file.
 * @returns null when neither has files
 */
export function filesOfBoth(older: WithFiles, newer: WithFiles): Both<readonly PasteFile[]> | null {
  if (older.files === null && newer.files === null) return null;
  return { from: filesOf(older), to: filesOf(newer) };
}

function filesOf({
  files,
  title,
  short_code: code,
  size_bytes: size,
  syntax,
}: WithFiles): readonly PasteFile[] {
  if (files !== null) return files;
  const name = title === null || fileNameProblems([title]).length > 0 ? code : title;
  return [{ name, offset: 0, size, syntax }];
}

/**
 * The changes of each file, in the order of the newer paste, and then the files that it lacks. A file that is
 * there under another name only, byte for byte, was renamed.
 * @param textOf the bytes that are compared
 * @returns null when the texts together have too many lines, or too many of their lines were moved
 */
export function diffFiles(
  contents: Both<Buffer>,
  { from, to }: Both<readonly PasteFile[]>,
  lineEnds: 'exact' | 'ignored',
  textOf: (file: Buffer) => Buffer = (file) => file,
): readonly FileDiff[] | null {
  const budget = new DiffBudget();
  const olderNames = new Map(from.map((file) => [file.name, file]));
  const newerNames = new Set(to.map(({ name }) => name));
  const lacking = new Set(from.filter(({ name }) => !newerNames.has(name)));
  const found: FileDiff[] = [];
  for (const file of to) {
    const bytes = bytesOf(contents.to, file);
    const isSame = (other: PasteFile): boolean => bytesOf(contents.from, other).equals(bytes);
    const same = olderNames.get(file.name);
    if (same !== undefined && isSame(same)) continue;
    const before = same ?? (file.size > 0 ? [...lacking].find(isSame) : undefined);
    if (before !== undefined && before !== same) {
      lacking.delete(before);
      found.push({ kind: 'renamed', from: before, to: file, hunks: [], lineEndsDiffer: false });
      continue;
    }
    const old = before === undefined ? EMPTY : textOf(bytesOf(contents.from, before));
    const diff = diffTexts({ from: old, to: textOf(bytes) }, lineEnds, budget);
    if (diff === null) return null;
    found.push(
      before === undefined
        ? { ...diff, kind: 'added', from: null, to: file }
        : { ...diff, kind: 'changed', from: before, to: file },
    );
  }
  for (const file of lacking) {
    const diff = diffTexts({ from: textOf(bytesOf(contents.from, file)), to: EMPTY }, lineEnds, budget);
    if (diff === null) return null;
    found.push({ ...diff, kind: 'removed', from: file, to: null });
  }
  return found;
}

const EMPTY = Buffer.alloc(0);

export function bytesOf(content: Buffer, { offset, size }: PasteFile): Buffer {
  return content.subarray(offset, offset + size);
}

/** So many lines take up to 10 ms of CPU time, and a page of all of them 12 to 19 ms. */
export const MAX_DIFF_LINES = 5000;

/** What is left of the work for all texts of an answer. */
class DiffBudget {
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
