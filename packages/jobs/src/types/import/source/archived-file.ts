/** A regular file of an archive. */
export interface ArchiveFile {
  /** Its path in the archive: relative, with `/`, without `..`. */
  readonly name: string;
  /** null: larger than `maxKeptBytes`. */
  readonly content: Buffer | null;
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
