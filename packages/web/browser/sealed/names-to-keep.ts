import { fileNameProblems, normalFileName } from '@pasteflow/domain';

/**
 * Names that every system can keep, for the files of a zip. One that could not be kept, or that leads out of the folder,
 * as those of other clients may, is a number with the extension instead.
 */
export function namesToKeep(names: readonly string[]): readonly string[] {
  const normal = names.map(normalFileName);
  const wrong = new Set(fileNameProblems(normal).map(({ index }) => index));
  for (let prefix = 'file-'; ; prefix = `_${prefix}`) {
    const kept = normal.map((name, index) =>
      wrong.has(index) ? `${prefix}${index + 1}${/\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0] ?? ''}` : name,
    );
    if (fileNameProblems(kept).length === 0) return kept;
  }
}
