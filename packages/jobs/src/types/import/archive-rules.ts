/**
 * The source cannot be imported: it is damaged, hostile, too large or of an unknown format. Another attempt
 * would find the same. The message is a clause about the source, e.g. "it is truncated".
 */
export class SourceRefusedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SourceRefusedError';
  }
}

/** Maximum number of entries of an import, including folders. */
export const MAX_ENTRIES = 10_000;

const MIB = 1024 * 1024;
const MAX_INFLATED_MIB = 512;

/**
 * Text compresses to a tenth, logs to a fiftieth. DEFLATE can reach a thousandth, but only bombs come near
 * it.
 */
const MAX_RATIO = 200;

/** The ratio is not checked up to this size. */
const FREE_BYTES = 64 * MIB;

/** Limits the bytes that a decompressor produces, independent of the sizes that the archive states. */
export class InflationBudget {
  readonly #compressedBytes: number;
  #inflatedBytes = 0;

  constructor(compressedBytes: number) {
    this.#compressedBytes = compressedBytes;
  }

  /** @throws SourceRefusedError when the total exceeds a limit */
  spend(bytes: number): void {
    this.#inflatedBytes += bytes;
    if (this.#inflatedBytes > MAX_INFLATED_MIB * MIB)
      throw new SourceRefusedError(`it inflates to more than ${MAX_INFLATED_MIB} MiB`);
    if (this.#inflatedBytes > Math.max(FREE_BYTES, MAX_RATIO * this.#compressedBytes))
      throw new SourceRefusedError(`it inflates to more than ${MAX_RATIO} times its size`);
  }
}

/** Limits the number of entries. */
export class EntryBudget {
  #entries = 0;

  /** @throws SourceRefusedError when there are too many */
  spend(entries: number): void {
    this.#entries += entries;
    if (this.#entries > MAX_ENTRIES) throw new SourceRefusedError(`it has more than ${MAX_ENTRIES} entries`);
  }
}

/** The size of a tar's blocks. A header is one block. */
export const BLOCK_BYTES = 512;

/**
 * Names have some hundred bytes, and Linux stores up to 64 KiB of attributes for a file. Each header is read
 * into memory as a whole.
 */
const MAX_EXTENSION_KIB = 256;

/**
 * pax and GNU have up to four of these headers for an entry, 1 KiB each with its block: 40 MiB for
 * MAX_ENTRIES entries.
 */
const MAX_EXTENSIONS_MIB = 64;

/**
 * Limits the extension headers of a tar. It counts bytes, which limits both their number and their length.
 */
export class ExtensionBudget {
  #bytes = 0;

  /**
   * @param bytes the stated size of one header
   * @throws SourceRefusedError when it or the total exceeds its limit
   */
  spend(bytes: number): void {
    if (!(bytes <= MAX_EXTENSION_KIB * 1024))
      throw new SourceRefusedError(`it has a header of more than ${MAX_EXTENSION_KIB} KiB`);
    this.#bytes += BLOCK_BYTES + bytes;
    if (this.#bytes > MAX_EXTENSIONS_MIB * MIB)
      throw new SourceRefusedError(`it has more than ${MAX_EXTENSIONS_MIB} MiB of headers for its entries`);
  }
}

/** A regular file of an archive. */
export interface ArchiveFile {
  /** Its path in the archive: relative, with `/`, without `..`. */
  readonly name: string;
  /** null: larger than `maxKeptBytes`. */
  readonly content: Buffer | null;
  /** The same for all files of a paste that an export has written as a folder. Default: a paste of its own. */
  readonly ofPaste?: string | undefined;
}

export interface ReadOptions {
  /** Maximum size of content that is kept, in bytes. Larger content is read and counted, but not kept. */
  readonly maxKeptBytes: number;
  /** When aborted, reading ends and its reason is thrown. */
  readonly signal: AbortSignal;
}

/** Collects the pieces of a file's content, and drops them when there are too many bytes. */
export class ContentCollector {
  readonly #maxKeptBytes: number;
  #pieces: Buffer[] = [];
  #size = 0;

  constructor({ maxKeptBytes }: Pick<ReadOptions, 'maxKeptBytes'>) {
    this.#maxKeptBytes = maxKeptBytes;
  }

  push(piece: Buffer): void {
    this.#size += piece.length;
    if (this.#size <= this.#maxKeptBytes) this.#pieces.push(piece);
    else this.#pieces = [];
  }

  get content(): Buffer | null {
    return this.#size <= this.#maxKeptBytes ? Buffer.concat(this.#pieces) : null;
  }
}

/** Characters of a name in error texts, because a hostile archive may have very long names. */
const QUOTED_CHARACTERS = 100;

/** @param name the name as stored in the archive @param why a clause such as "is a link" */
export function entryRefused(name: string, why: string): SourceRefusedError {
  const characters = Array.from(name);
  const shown =
    characters.length > QUOTED_CHARACTERS ? `${characters.slice(0, QUOTED_CHARACTERS).join('')}…` : name;
  return new SourceRefusedError(`its entry ${JSON.stringify(shown)} ${why}`);
}

/**
 * Normalises the name of an entry to a relative path without `./`. A name only becomes a title here, but an
 * archive with a name that leads out of its folder is hostile or damaged. @throws SourceRefusedError for such
 * a name
 */
export function entryName(name: string): string {
  if (name.includes('\0')) throw entryRefused(name, 'has a NUL in its name');
  if (name.includes('\\')) throw entryRefused(name, 'has a backslash in its name');
  if (name.startsWith('/') || /^[A-Za-z]:/.test(name)) throw entryRefused(name, 'has an absolute name');
  const parts = name.split('/');
  if (parts.includes('..')) throw entryRefused(name, 'has a name with ".."');
  if (name === '') throw entryRefused(name, 'has no name');
  return parts.filter((part) => part !== '.' && part !== '').join('/');
}

/** The first bytes of an AppleDouble file, in which macOS keeps attributes of the file beside it. */
const APPLE_DOUBLE = Buffer.from([0x00, 0x05, 0x16, 0x07]);

/** Whether macOS has added this file to the archive. Nobody wants a paste of it. */
export function isMacMetadata({ name, content }: ArchiveFile): boolean {
  const file = name.slice(name.lastIndexOf('/') + 1);
  if (file === '.DS_Store' || name.startsWith('__MACOSX/')) return true;
  return file.startsWith('._') && content?.subarray(0, APPLE_DOUBLE.length).equals(APPLE_DOUBLE) === true;
}
