import { fileNameProblems, normalFileName } from '@pasteflow/domain';

/**
 * Names that every system can keep, for the files of a zip. One that could not be kept, or that leads out of the folder,
 * as those of other clients may, is a number with the extension instead.
 */
export function namesToKeep(names: readonly string[]): readonly string[] {
  const normal = names.map(normalFileName);
  const wrong = new Set(fileNameProblems(normal).map(({ index }) => index));
  for (let round = 0; ; round += 1) {
    // Of a length that stays within the bound of names: each round ends at another name of the paste.
    const prefix = round === 0 ? 'file-' : `file-${round}-`;
    const kept = normal.map((name, index) =>
      wrong.has(index) ? `${prefix}${index + 1}${/\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0] ?? ''}` : name,
    );
    if (fileNameProblems(kept).length === 0) return kept;
  }
}
