import type { ShownHunk } from '@pasteflow/web';
import { compareLines } from './hunks.ts';

/** A part of a text: from the first index up to the second. */
type Part = readonly [start: number, end: number];

/** Lines of which more has changed are other lines: marks in them would say nothing. */
const MAX_CHANGED_SHARE = 0.6;

/** A pair of lines, and all pairs of a page, take no more work: below 2 ms of CPU time together. */
const BOUNDS_OF_PAIR = { edits: 40, comparisons: 4000 };
const MAX_COMPARISONS = 40_000;
const MAX_LINE_CHARACTERS = 2000;

/**
 * Marks the words that differ between a removed line and the one that is at its place, in all texts of a page. The
 * words are only a help for the eye: what would take too long stays without marks.
 */
export function markChangedWords<T extends { readonly hunks: readonly ShownHunk[] }>(
  texts: readonly T[],
): readonly T[] {
  let left = MAX_COMPARISONS;
  const marked = (hunk: ShownHunk): ShownHunk => {
    const runs = [...hunk.runs];
    for (const [n, removed] of runs.entries()) {
      const added = runs[n + 1];
      if (removed.kind !== 'removed' || added?.kind !== 'added') continue;
      const [oldMarks, newMarks]: [Part[], Part[]] = [[], []];
      const [oldLines, newLines] = [linesOf(removed.text), linesOf(added.text)];
      for (const [line, oldLine] of oldLines.entries()) {
        const newLine = newLines[line];
        if (newLine === undefined || left <= 0) break;
        const changed = changedWords(oldLine.text, newLine.text);
        left -= changed.comparisons;
        oldMarks.push(...changed.old.map(([start, end]): Part => [oldLine.at + start, oldLine.at + end]));
        newMarks.push(...changed.new.map(([start, end]): Part => [newLine.at + start, newLine.at + end]));
      }
      runs[n] = { ...removed, marks: oldMarks };
      runs[n + 1] = { ...added, marks: newMarks };
    }
    return { ...hunk, runs };
  };
  return texts.map((text) => ({ ...text, hunks: text.hunks.map(marked) }));
}

function linesOf(text: string): readonly { readonly text: string; readonly at: number }[] {
  let at = 0;
  return text.split('\n').map((line) => {
    const found = { text: line, at };
    at += line.length + 1;
    return found;
  });
}

interface ChangedWords {
  readonly old: readonly Part[];
  readonly new: readonly Part[];
  readonly comparisons: number;
}

function changedWords(oldLine: string, newLine: string): ChangedWords {
  const unmarked = { old: [], new: [], comparisons: 1 };
  if (Math.max(oldLine.length, newLine.length) > MAX_LINE_CHARACTERS) return unmarked;
  const [oldWords, newWords] = [wordsOf(oldLine), wordsOf(newLine)];
  const compared = compareLines(oldWords, newWords, BOUNDS_OF_PAIR);
  if (compared === null) return { ...unmarked, comparisons: BOUNDS_OF_PAIR.comparisons };
  const { keptOld, keptNew, comparisons } = compared;
  const marks = { old: partsOf(oldWords, keptOld), new: partsOf(newWords, keptNew) };
  const isOther =
    shareOf(marks.old, oldLine.length) > MAX_CHANGED_SHARE ||
    shareOf(marks.new, newLine.length) > MAX_CHANGED_SHARE;
  return isOther ? { ...unmarked, comparisons: comparisons + 1 } : { ...marks, comparisons: comparisons + 1 };
}

/** Words with their digits, white space, and every other character by itself. */
const wordsOf = (line: string): readonly string[] => line.match(/[\p{L}\p{N}_]+|\s+|[^]/gu) ?? [];

/** What was not kept, in as few parts as there are. */
function partsOf(words: readonly string[], kept: Uint8Array): readonly Part[] {
  const parts: [start: number, end: number][] = [];
  let at = 0;
  for (const [n, { length }] of words.entries()) {
    const last = parts.at(-1);
    if (kept[n] === 0) {
      if (last?.[1] === at) last[1] += length;
      else parts.push([at, at + length]);
    }
    at += length;
  }
  return parts;
}

function shareOf(parts: readonly Part[], length: number): number {
  return parts.reduce((sum, [start, end]) => sum + end - start, 0) / Math.max(1, length);
}
