/** A regular file of an archive. */
export interface ArchiveFile {
  /** Its path in the archive: relative, with `/`, without `..`. */
  readonly name: string;
  /** null: it is larger than what was asked for. */
  readonly content: Buffer | null;
}

export interface ReadOptions {
  /** Content up to here is given, in bytes; what is larger is read, counted and let go. */
  readonly maxKeptBytes: number;
  /** Aborted: it is read no further, and its reason thrown. */
  readonly signal: AbortSignal;
}

/** Takes a file's content piece by piece, and keeps it as long as it is short enough. */
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
