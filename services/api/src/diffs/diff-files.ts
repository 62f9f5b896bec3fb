import { fileNameProblems, type PasteFile } from '@pasteflow/domain';
import type { PasteRow } from '@pasteflow/postgres';
import { DiffBudget, diffTexts, type TextDiff } from './diff-texts.ts';

type WithFiles = Pick<PasteRow, 'short_code' | 'files' | 'title' | 'size_bytes' | 'syntax'>;

/** What the older paste and the newer one have. */
export interface Both<T> {
  readonly from: T;
  readonly to: T;
}

/** What has become of a file. One that has neither changed nor another name is left out. */
export type FileDiff = TextDiff &
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
