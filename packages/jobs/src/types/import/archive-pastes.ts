import { MAX_FILES } from '@pasteflow/domain';
import { type ArchiveFile, isMacMetadata, SourceRefusedError } from './archive-rules.ts';

/** The files of an archive that become one paste. */
export interface FilesOfPaste {
  /** Of the first of them in the archive, from 0. */
  readonly position: number;
  /** That contains them, and is no part of their names; null: none. */
  readonly folder: string | null;
  readonly files: readonly ArchiveFile[];
  /** macOS has added the file to the archive. */
  readonly isSkipped: boolean;
}

export interface ArchivePasteRules {
  /** Of all files; otherwise of each file, or of those that an export has written as one. */
  readonly asOnePaste: boolean;
  /** Of the contents of a paste together: what is beyond them is not kept. */
  readonly maxBytes: number;
}

/**
 * Puts the files of an archive together to pastes, in the order of their first files.
 * @throws SourceRefusedError for too many files of one paste, which a hostile archive could have
 */
export async function* pastesOfArchive(
  files: AsyncIterable<ArchiveFile>,
  { asOnePaste, maxBytes }: ArchivePasteRules,
): AsyncGenerator<FilesOfPaste> {
  let open: OpenPaste | null = null;
  let position = -1;
  for await (const file of files) {
    position += 1;
    if (isMacMetadata(file)) {
      yield { position, folder: null, files: [file], isSkipped: true };
      continue;
    }
    const [folder, key] = asOnePaste ? [null, ''] : folderOf(file);
    if (open !== null && (key === null || open.key !== key)) {
      yield open.paste;
      open = null;
    }
    open ??= new OpenPaste(position, folder, key);
    open.add(file, maxBytes);
  }
  if (open !== null) yield open.paste;
}

/** The folder of a paste of several files, and what its other files have in common with this one; null: none. */
function folderOf({ name, ofPaste }: ArchiveFile): readonly [folder: string | null, key: string | null] {
  const end = name.indexOf('/');
  if (ofPaste === undefined || end === -1) return [null, null];
  const folder = name.slice(0, end);
  return [folder, `${ofPaste} ${folder}`];
}

class OpenPaste {
  readonly key: string | null;
  readonly #position: number;
  readonly #folder: string | null;
  #files: ArchiveFile[] = [];
  #bytes = 0;

  constructor(position: number, folder: string | null, key: string | null) {
    this.key = key;
    this.#position = position;
    this.#folder = folder;
  }

  get paste(): FilesOfPaste {
    return { position: this.#position, folder: this.#folder, files: this.#files, isSkipped: false };
  }

  add(file: ArchiveFile, maxBytes: number): void {
    if (this.#files.length === MAX_FILES)
      throw new SourceRefusedError(`it has more than ${MAX_FILES} files, which one paste cannot have`);
    this.#files.push(file);
    this.#bytes += file.content?.length ?? 0;
    if (this.#bytes > maxBytes) this.#files = this.#files.map(({ name }) => ({ name, content: null }));
  }
}
