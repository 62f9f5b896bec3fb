import { SourceRefusedError } from './source-refused.ts';
import { BLOCK_BYTES } from './tar-header.ts';

/** Maximum number of entries of an import, including folders. */
export const MAX_ENTRIES = 10_000;

const MIB = 1024 * 1024;
const MAX_INFLATED_MIB = 512;

/** Text compresses to a tenth, logs to a fiftieth. DEFLATE can reach a thousandth, but only bombs come near it. */
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

/** Names have some hundred bytes, and Linux stores up to 64 KiB of attributes for a file. Each header is read into memory as a whole. */
const MAX_EXTENSION_KIB = 256;

/** pax and GNU have up to four of these headers for an entry, 1 KiB each with its block: 40 MiB for MAX_ENTRIES entries. */
const MAX_EXTENSIONS_MIB = 64;

/** Limits the extension headers of a tar. It counts bytes, which limits both their number and their length. */
export class ExtensionBudget {
  #bytes = 0;

  /** @param bytes the stated size of one header @throws SourceRefusedError when it or the total exceeds its limit */
  spend(bytes: number): void {
    if (!(bytes <= MAX_EXTENSION_KIB * 1024))
      throw new SourceRefusedError(`it has a header of more than ${MAX_EXTENSION_KIB} KiB`);
    this.#bytes += BLOCK_BYTES + bytes;
    if (this.#bytes > MAX_EXTENSIONS_MIB * MIB)
      throw new SourceRefusedError(`it has more than ${MAX_EXTENSIONS_MIB} MiB of headers for its entries`);
  }
}
