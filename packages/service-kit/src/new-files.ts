import {
  bytesOfText,
  fileNameProblems,
  MAX_FILES,
  MAX_FILES_BYTES,
  MIN_FILES,
  normalFileName,
  pasteOptions,
  placedFiles,
  type ChosenOptions,
  type PasteFile,
} from '@pasteflow/domain';
import type { PasteFieldError } from './new-paste.ts';

/** The options that the files of a new paste decide, or what is wrong with the files. */
export type FileOptions =
  | { readonly options: Pick<ChosenOptions, 'title' | 'syntax' | 'files'> }
  | { readonly errors: readonly PasteFieldError[] };

/**
 * What a paste of these files has, in the order in which their contents follow each other. One file is a paste whose
 * title is the name, unless a title was chosen.
 * @param chosen what the client has chosen for the whole paste
 */
export function toFiles(
  sent: readonly Omit<PasteFile, 'offset'>[],
  { title, syntax }: Pick<ChosenOptions, 'title' | 'syntax'>,
): FileOptions {
  const files = placedFiles(sent.map((file) => ({ ...file, name: normalFileName(file.name) })));
  const errors = [
    ...fileNameProblems(files.map(({ name }) => name)).map(({ index, message }) => ({
      path: `files.${index}.name`,
      message,
    })),
    ...(files.length > MAX_FILES ? [{ path: 'files', message: `must have at most ${MAX_FILES} files` }] : []),
  ];
  const [only] = files;
  if (only !== undefined && files.length < MIN_FILES) {
    const { maxCharacters } = pasteOptions.title;
    if (errors.length === 0 && title === null && Array.from(only.name).length > maxCharacters)
      errors.push({
        path: 'files.0.name',
        message: `must have at most ${maxCharacters} characters: the only file is the title of the paste`,
      });
    return errors.length > 0
      ? { errors }
      : { options: { title: title ?? only.name, syntax: syntax ?? only.syntax } };
  }
  if (syntax !== null)
    errors.push({ path: 'syntax', message: 'must be empty: each file has a syntax of its own' });
  if (bytesOfText(JSON.stringify(files)) > MAX_FILES_BYTES)
    errors.push({ path: 'files', message: 'must have shorter names: with 100 files, some 100 bytes each' });
  return errors.length > 0 ? { errors } : { options: { title, syntax, files } };
}
