/** A file of a paste: a named range of its content. The files of a paste follow each other without gaps. */
export interface PasteFile {
  readonly name: string;
  /** Of its first byte within the content. */
  readonly offset: number;
  /** In bytes; 0 for an empty file. */
  readonly size: number;
  /** The name of a language that the creator has chosen; null: none was chosen. */
  readonly syntax: string | null;
}

/** Of a paste with files. A paste of one file has a title instead. */
export const MIN_FILES = 2;
export const MAX_FILES = 100;
export const MAX_FILE_NAME_BYTES = 255;
/**
 * Of the files of a paste as JSON, without their contents. Postgres writes eight blanks more for each file, and
 * the table `pastes` takes 16 KiB.
 */
export const MAX_FILES_BYTES = 15 * 1024;

/** A name that breaks a rule. */
export interface FileNameProblem {
  /** The place of the name in the list. */
  readonly index: number;
  /** Begins with "must". */
  readonly message: string;
}

/** Controls, marks of direction, lone surrogates, and characters without a form. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u{2800}]/u;

/** What Windows allows in no name. Its folders end with a backslash. */
const RESERVED = /[\\<>:"|?*]/;

/** Windows opens a device under these names, with any extension. */
const DEVICE = /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³]) *(\.|$)/i;

const encoder = new TextEncoder();
export const bytesOfText = (text: string): number => encoder.encode(text).length;

/** The form in which names are stored and compared: macOS writes an ä as two characters. */
export const normalFileName = (name: string): string => name.normalize('NFC');

/**
 * Names that break a rule: each must be a relative path that every file system can keep, and no two of them may
 * meet in one place, also where the case of letters makes no difference. They are in normal form.
 */
export function fileNameProblems(names: readonly string[]): readonly FileNameProblem[] {
  const files = new Set<string>();
  const folders = new Set<string>();
  return names.flatMap((name, index) => {
    // A name without a bound would have as many folders as letters.
    if (isTooLong(name)) return [{ index, message: `must have at most ${MAX_FILE_NAME_BYTES} bytes` }];
    const folded = foldedName(name);
    const parents = foldersOf(folded);
    const message =
      problemOf(name) ??
      (files.has(folded)
        ? 'must be another one: a file before it has the same name, also in small letters'
        : null) ??
      (folders.has(folded) || parents.some((folder) => files.has(folder))
        ? 'must not be the name of a folder and of a file'
        : null);
    files.add(folded);
    for (const folder of parents) folders.add(folder);
    return message === null ? [] : [{ index, message }];
  });
}

/** UTF-8 has no fewer bytes than UTF-16 has units. */
function isTooLong(name: string): boolean {
  return name.length > MAX_FILE_NAME_BYTES || bytesOfText(name) > MAX_FILE_NAME_BYTES;
}

/** Twice to small letters: only then is the capital sharp s that of the small one. */
const foldedName = (name: string): string => name.toLowerCase().toUpperCase().toLowerCase();

function problemOf(name: string): string | null {
  if (name === '') return 'must not be empty';
  if (INVISIBLE.test(name)) return 'must not have control characters or invisible ones';
  if (RESERVED.test(name))
    return String.raw`must not have \ < > : " | ? or *, which Windows allows in no name`;
  for (const segment of name.split('/')) {
    if (segment === '') return 'must be a relative path, without an empty part';
    if (segment === '.' || segment === '..') return 'must not have . or .. as a part';
    if (/[.\p{Zs}]$/u.test(segment)) return 'must not have a part that ends with a dot or a blank';
    if (/^\p{Zs}/u.test(segment)) return 'must not have a part that begins with a blank';
    if (DEVICE.test(segment)) return 'must not have a part that names a device of Windows, such as nul';
  }
  return null;
}

/** `a/b/c`: `a` and `a/b`. */
function foldersOf(name: string): readonly string[] {
  const parts = name.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** The files of a content, from their sizes in order. */
export function placedFiles(files: readonly Omit<PasteFile, 'offset'>[]): readonly PasteFile[] {
  let offset = 0;
  return files.map(({ name, size, syntax }) => {
    const placed = { name, offset, size, syntax };
    offset += size;
    return placed;
  });
}
