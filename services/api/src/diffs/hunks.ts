import { diffArrays } from 'diff';

/** Lines that follow one another and have the same fate. */
interface Run {
  readonly kind: 'same' | 'removed' | 'added';
  /** As they are in the new text, or in the old one if they were removed. */
  readonly lines: readonly string[];
  /**
   * The number of the first line in the old and in the new text, from 1; for a text that does not have it,
   * where it would be.
   */
  readonly oldNumber: number;
  readonly newNumber: number;
}

/** Changes that are close to one another, with the lines around them. */
export interface Hunk {
  readonly oldNumber: number;
  readonly oldCount: number;
  readonly newNumber: number;
  readonly newCount: number;
  readonly runs: readonly Run[];
}

/** Lines around a change, as in the unified format of diff. */
const CONTEXT = 3;

export function hunksOf(
  oldLines: readonly string[],
  newLines: readonly string[],
  comparison: Comparison,
): readonly Hunk[] {
  let group: Run[] = [];
  const groups = [group];
  const runs = runsOf(oldLines, newLines, comparison);
  runs.forEach((run, n) => {
    const [isFirst, isLast] = [n === 0, n === runs.length - 1];
    const joins = !isFirst && !isLast && run.lines.length <= 2 * CONTEXT;
    if (run.kind !== 'same' || joins) {
      group.push(run);
      return;
    }
    if (!isFirst) group.push(part(run, 0, CONTEXT));
    if (isLast) return;
    if (!isFirst) groups.push((group = []));
    group.push(part(run, Math.max(0, run.lines.length - CONTEXT), run.lines.length));
  });
  return groups.filter((group) => group.some(({ kind }) => kind !== 'same')).map(hunkOf);
}

/** Removed lines come before the added ones that replace them. */
function runsOf(
  oldLines: readonly string[],
  newLines: readonly string[],
  { keptOld, keptNew }: Comparison,
): readonly Run[] {
  const runs: Run[] = [];
  let [oldAt, newAt] = [0, 0];
  while (oldAt < oldLines.length || newAt < newLines.length) {
    const [oldFrom, newFrom] = [oldAt, newAt];
    const numbers = { oldNumber: oldFrom + 1, newNumber: newFrom + 1 };
    if (keptOld[oldAt] === 0) {
      while (keptOld[oldAt] === 0) oldAt += 1;
      runs.push({ kind: 'removed', lines: oldLines.slice(oldFrom, oldAt), ...numbers });
    } else if (keptNew[newAt] === 0) {
      while (keptNew[newAt] === 0) newAt += 1;
      runs.push({ kind: 'added', lines: newLines.slice(newFrom, newAt), ...numbers });
    } else {
      while (keptOld[oldAt] === 1 && keptNew[newAt] === 1) {
        oldAt += 1;
        newAt += 1;
      }
      runs.push({ kind: 'same', lines: newLines.slice(newFrom, newAt), ...numbers });
    }
  }
  return runs;
}

function part(run: Run, from: number, to: number): Run {
  return {
    kind: run.kind,
    lines: run.lines.slice(from, to),
    oldNumber: run.oldNumber + from,
    newNumber: run.newNumber + from,
  };
}

function hunkOf(runs: readonly Run[]): Hunk {
  const [first] = runs;
  const linesIn = (other: Run['kind']): number =>
    runs.reduce((sum, { kind, lines }) => (kind === other ? sum : sum + lines.length), 0);
  return {
    oldNumber: first?.oldNumber ?? 1,
    oldCount: linesIn('added'),
    newNumber: first?.newNumber ?? 1,
    newCount: linesIn('removed'),
    runs,
  };
}

const SIGNS: Readonly<Record<Run['kind'], string>> = { same: ' ', removed: '-', added: '+' };

/**
 * The hunks in the unified format of diff, which `patch` applies byte for byte; empty without changes. The
 * short codes are the names of the files: a title could be anything.
 */
export function unifiedPatch(
  { from, to }: { readonly from: string; readonly to: string },
  hunks: readonly Hunk[],
): Buffer {
  return Buffer.concat([Buffer.from(headed(from, to, hunks)), body(hunks)]);
}

/**
 * The patch of the files of two pastes, which `git apply` and `patch -p1` apply. @param diffs in their order
 */
export function patchOfFiles(diffs: readonly PatchedFile[]): Buffer {
  return Buffer.concat(
    diffs.flatMap(({ from, to, hunks }) => {
      const [older, newer] = [(from ?? to)?.name, (to ?? from)?.name];
      const said = [
        `diff --git a/${older} b/${newer}\n`,
        from === null && 'new file mode 100644\n',
        to === null && 'deleted file mode 100644\n',
        older !== newer && `similarity index 100%\nrename from ${older}\nrename to ${newer}\n`,
        headed(from === null ? NOTHING : `a/${older}`, to === null ? NOTHING : `b/${newer}`, hunks),
      ].filter((line) => line !== false);
      return [Buffer.from(said.join('')), body(hunks)];
    }),
  );
}

interface PatchedFile {
  /** null: the file was added. */
  readonly from: { readonly name: string } | null;
  /** null: the file was removed. */
  readonly to: { readonly name: string } | null;
  readonly hunks: readonly Hunk[];
}

const NOTHING = '/dev/null';

function headed(from: string, to: string, hunks: readonly Hunk[]): string {
  return hunks.length === 0 ? '' : `--- ${ended(from)}\n+++ ${ended(to)}\n`;
}

/** A tab ends a name with a blank: a time could stand behind it. */
const ended = (name: string): string => (/\s/.test(name) ? `${name}\t` : name);

/** The lines are bytes, and not the names. */
function body(hunks: readonly Hunk[]): Buffer {
  const text = hunks.map(
    ({ oldNumber, oldCount, newNumber, newCount, runs }) =>
      `@@ -${placeOf(oldNumber, oldCount)} +${placeOf(newNumber, newCount)} @@\n${runs.map(written).join('')}`,
  );
  return Buffer.from(text.join(''), 'latin1');
}

/** No lines stand behind the line before them. */
function placeOf(number: number, count: number): string {
  return `${count === 0 ? number - 1 : number},${count}`;
}

function written({ kind, lines }: Run): string {
  return lines
    .map((line) => `${SIGNS[kind]}${line.endsWith('\n') ? line : `${line}\n\\ No newline at end of file\n`}`)
    .join('');
}

/** Which lines of two texts belong together. */
interface Comparison {
  /** Whether the line of this index is in both texts, at places that belong together. */
  readonly keptOld: Uint8Array;
  readonly keptNew: Uint8Array;
  /** How often two lines were compared: the work. */
  readonly comparisons: number;
}

/** How much work a comparison may take. */
interface Bounds {
  readonly edits: number;
  readonly comparisons: number;
}

/**
 * The time of jsdiff grows with the square of the insertions and deletions, and with the product of these and
 * the lines. With both bounds the worst texts found took 3 to 10 ms of CPU time. Without them, 500 edits took
 * 25 ms, and 1,000 took 90 ms.
 */
export const MAX_EDITS = 300;
export const MAX_COMPARISONS = 250_000;

/**
 * The fewest deleted and inserted lines that make the new text of the old one. Lines that only one of the
 * texts has are known to be deleted or inserted: leaving them out changes nothing in the result, and a text
 * that was written anew costs hardly anything. The bounds hold for the rest, which are the lines that were
 * moved or repeated. Lines are compared as numbers, whatever their length.
 * @returns null for texts that would take more work than the bounds allow
 */
export function compareLines(
  oldLines: readonly string[],
  newLines: readonly string[],
  bounds: Bounds = { edits: MAX_EDITS, comparisons: MAX_COMPARISONS },
): Comparison | null {
  const ids = new Map<string, number>();
  const idOf = (line: string): number => {
    const id = ids.get(line) ?? ids.size;
    ids.set(line, id);
    return id;
  };
  const oldIds = oldLines.map(idOf);
  const newIds = newLines.map(idOf);
  const oldShared = indexesOfShared(oldIds, newIds, ids.size);
  const newShared = indexesOfShared(newIds, oldIds, ids.size);

  let comparisons = 0;
  const changes = withinBounds(() =>
    diffArrays(
      oldShared.map((index) => oldIds[index]),
      newShared.map((index) => newIds[index]),
      {
        maxEditLength: bounds.edits,
        comparator: (left, right) => {
          comparisons += 1;
          if (comparisons > bounds.comparisons) throw new TooMuchWork();
          return left === right;
        },
      },
    ),
  );
  if (changes === null) return null;

  const keptOld = new Uint8Array(oldLines.length);
  const keptNew = new Uint8Array(newLines.length);
  let [oldAt, newAt] = [0, 0];
  for (const { added, removed, count } of changes) {
    const isKept = !added && !removed;
    if (isKept) {
      for (const index of oldShared.slice(oldAt, oldAt + count)) keptOld[index] = 1;
      for (const index of newShared.slice(newAt, newAt + count)) keptNew[index] = 1;
    }
    if (!added) oldAt += count;
    if (!removed) newAt += count;
  }
  return { keptOld, keptNew, comparisons };
}

/** The indexes of the lines that the other text has, too. */
function indexesOfShared(
  ids: readonly number[],
  others: readonly number[],
  count: number,
): readonly number[] {
  const isShared = new Uint8Array(count);
  for (const id of others) isShared[id] = 1;
  return ids.flatMap((id, index) => (isShared[id] === 1 ? [index] : []));
}

/** jsdiff has no bound for comparisons of its own. */
class TooMuchWork extends Error {}

function withinBounds<T>(compare: () => T | undefined): T | null {
  try {
    return compare() ?? null;
  } catch (error) {
    if (error instanceof TooMuchWork) return null;
    throw error;
  }
}
