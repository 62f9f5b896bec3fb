import { describe, expect, it } from '@jest/globals';
import type { ShownHunk } from '@pasteflow/web';
import { markChangedWords } from '../src/diffs/changed-words.ts';
import { diffTexts, linesOf, MAX_DIFF_LINES } from '../src/diffs/diff-files.ts';
import { compareLines, MAX_COMPARISONS, MAX_EDITS, unifiedPatch } from '../src/diffs/hunks.ts';

/** Numbers that look random, and are the same in each run. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}

/** Applies a patch as its format says, without regard to the code that wrote it. */
function applied(from: Buffer, patch: Buffer): Buffer {
  const old = linesOf(from, Infinity)!;
  const result: string[] = [];
  let at = 0;
  let sign = '';
  for (const line of linesOf(patch, Infinity)!.slice(2)) {
    const hunk = /^@@ -(\d+),\d+ \+\d+,\d+ @@\n$/.exec(line);
    if (hunk !== null) {
      while (at < Number(hunk[1]) - 1) result.push(old[at++]!);
    } else if (line.startsWith('\\')) {
      if (sign !== '-') result.push(result.pop()!.slice(0, -1));
    } else if (line.startsWith('+')) result.push(line.slice(1));
    else {
      expect(old[at]!.replace(/\n?$/, '\n')).toBe(line.slice(1));
      if (line.startsWith(' ')) result.push(old[at]!.replace(/\n?$/, '\n'));
      at += 1;
    }
    sign = line.charAt(0);
  }
  return Buffer.from([...result, ...old.slice(at)].join(''), 'latin1');
}

describe('the diff of two texts', () => {
  it('is a patch that makes the new content of the old one, for any bytes', () => {
    const next = random(7);
    for (let n = 0; n < 500; n += 1) {
      const words = ['a', 'b', 'c', 'd\r', '\xff\x00', '', '-x', '+y'];
      const lines = Array.from({ length: 1 + next(40) }, () => words[next(words.length)]!);
      const edited = lines.filter(() => next(6) > 0).map((line) => (next(8) > 0 ? line : `${line}!`));
      const [from, to] = [lines, [...edited, 'end']].map((each) =>
        Buffer.from(each.join('\n') + (next(2) === 0 ? '' : '\n'), 'latin1'),
      ) as [Buffer, Buffer];
      if (from.length === 0) continue;
      const diff = diffTexts({ from, to }, 'exact')!;
      const patch = unifiedPatch({ from: 'A', to: 'B' }, diff.hunks);
      expect(applied(from, patch).equals(to)).toBe(true);
    }
  });

  it('deletes and inserts no more lines than needed', () => {
    const lines = (text: string): readonly string[] => Array.from(text, (each) => `${each}\n`);
    const { keptOld, keptNew } = compareLines(lines('ABCABBA'), lines('CBABAC'))!;
    expect([...keptOld].filter(Boolean)).toHaveLength(4); // the example of Myers's paper
    expect([...keptNew].filter(Boolean)).toHaveLength(4);
  });
});

describe('the work for a diff', () => {
  const many = (count: number, line: (n: number) => string): readonly string[] =>
    Array.from({ length: count }, (_, n) => `${line(n)}\n`);
  const next = random(11);
  const N = MAX_DIFF_LINES;

  it('is nothing for a text that was written anew, and little for one with many changes', () => {
    const anew = compareLines(
      many(N, (n) => `a${n}`),
      many(N, (n) => `b${n}`),
    );
    expect(anew?.comparisons).toBe(0);
    const half = compareLines(
      many(N, (n) => `a${n}`),
      many(N, (n) => (n % 2 === 0 ? `a${n}` : `b${n}`)),
    );
    expect(half?.comparisons).toBeLessThanOrEqual(N);
  });

  const hostile: Readonly<Record<string, readonly [readonly string[], readonly string[]]>> = {
    'the lines backwards': [many(N, (n) => `${n}`), many(N, (n) => `${N - n - 1}`)],
    'two lines in any order': [many(N, () => `${next(2)}`), many(N, () => `${next(2)}`)],
    'thirty lines in any order': [many(N, () => `${next(30)}`), many(N, () => `${next(30)}`)],
    'long equal runs with other periods': [
      many(N, (n) => (n % 60 === 0 ? 'b' : 'a')),
      many(N, (n) => (n % 61 === 0 ? 'b' : 'a')),
    ],
    'a block that moved behind long equal runs': [
      [...many(MAX_EDITS / 2 - 1, () => 'b'), ...many(N - MAX_EDITS, () => 'a')],
      [...many(N - MAX_EDITS, () => 'a'), ...many(MAX_EDITS / 2 - 1, () => 'b')],
    ],
    'long lines that differ in the last character': [
      many(300, (n) => `${'x'.repeat(800)}${n}`),
      many(300, (n) => `${'x'.repeat(800)}${300 - n}`),
    ],
  };
  it.each(Object.keys(hostile))('is bounded for hostile texts: %s', (name) => {
    const [from, to] = hostile[name]!;
    const comparison = compareLines(from, to);
    if (comparison !== null) expect(comparison.comparisons).toBeLessThanOrEqual(MAX_COMPARISONS);
    const edits =
      comparison === null
        ? null
        : [...comparison.keptOld, ...comparison.keptNew].filter((kept) => kept === 0).length;
    if (edits !== null) expect(edits).toBeLessThanOrEqual(MAX_EDITS);
  });

  it('ends at the bound, and texts just within it are compared', () => {
    const block = (lines: number): [readonly string[], readonly string[]] => [
      [...many(lines, () => 'b'), ...many(1000, () => 'a')],
      [...many(1000, () => 'a'), ...many(lines, () => 'b')],
    ];
    expect(compareLines(...block(MAX_EDITS / 2))).not.toBeNull();
    expect(compareLines(...block(MAX_EDITS / 2 + 1))).toBeNull();
    const lines = (count: number): Buffer => Buffer.alloc(count, '\n');
    expect(diffTexts({ from: lines(N), to: lines(N - 1) }, 'exact')).not.toBeNull();
    expect(diffTexts({ from: lines(N + 1), to: lines(N) }, 'exact')).toBeNull();
  });
});

describe('the marked words of a diff', () => {
  const runOf = (kind: 'removed' | 'added', text: string) => ({
    kind,
    text,
    marks: [],
    lines: text.split('\n').length - 1,
    oldNumber: 1,
    newNumber: 1,
  });
  const markedOf = (from: string, to: string): readonly (readonly string[])[] => {
    const runs = [runOf('removed', from), runOf('added', to)];
    const [marked] = markChangedWords<{ readonly hunks: readonly ShownHunk[] }>([
      { hunks: [{ oldNumber: 1, newNumber: 1, runs }] },
    ]);
    return marked!.hunks[0]!.runs.map(({ text, marks }) =>
      marks.map(([start, end]) => text.slice(start, end)),
    );
  };

  it('are those that the line at the same place does not have', () => {
    expect(markedOf('const wait = 5; // s\nsame length\n', 'const delay = 6; // s\nsame width\n')).toEqual([
      ['wait', '5', 'length'],
      ['delay', '6', 'width'],
    ]);
    expect(markedOf('der Zähler läuft jetzt 😀 nicht\n', 'der Zähler läuft jetzt 😎 nicht\n')).toEqual([
      ['😀'],
      ['😎'],
    ]);
  });

  it('are none in lines that have hardly anything in common, or that have no counterpart', () => {
    expect(markedOf('two\n', '2\n')).toEqual([[], []]);
    expect(markedOf('return waits[attempt];\n', '}\nreturn waits[attempt] ?? 16;\n')).toEqual([[], []]);
  });

  it('are no more when all lines together have taken the work of one page', () => {
    const line = (n: number): string => Array.from({ length: 60 }, (_, k) => `a${(k * n) % 7}`).join(' ');
    const text = (by: number): string => Array.from({ length: 2500 }, (_, n) => line(n + by)).join('\n');
    const [from, to] = [`x y\n${text(1)}\nx y z\n`, `x z\n${text(3)}\nx y w\n`];
    const [removed] = markedOf(from, to);
    expect(removed).toContain('y');
    expect(removed!.at(-1)).not.toBe('z');
  });
});
