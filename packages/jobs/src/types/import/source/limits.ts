import { SourceRefusedError } from './source-refused.ts';
import { BLOCK_BYTES } from './tar-header.ts';

/** Of one import, folders and all. */
export const MAX_ENTRIES = 10_000;

const MIB = 1024 * 1024;
const MAX_INFLATED_MIB = 512;

/** Text compresses to a tenth, logs to a fiftieth; DEFLATE's bound is a thousandth, which only bombs come near. */
const MAX_RATIO = 200;

/** Up to here nobody asks how well something was compressed. */
const FREE_BYTES = 64 * MIB;

/** Counts the bytes that really come out of a decompressor, whatever the archive says about itself. */
export class InflationBudget {
  readonly #compressedBytes: number;
  #inflatedBytes = 0;

  constructor(compressedBytes: number) {
    this.#compressedBytes = compressedBytes;
  }

  /** @throws SourceRefusedError when that is beyond sense */
  spend(bytes: number): void {
    this.#inflatedBytes += bytes;
    if (this.#inflatedBytes > MAX_INFLATED_MIB * MIB)
      throw new SourceRefusedError(`it inflates to more than ${MAX_INFLATED_MIB} MiB`);
    if (this.#inflatedBytes > Math.max(FREE_BYTES, MAX_RATIO * this.#compressedBytes))
      throw new SourceRefusedError(`it inflates to more than ${MAX_RATIO} times its size`);
  }
}

/** Counts entries. */
export class EntryBudget {
  #entries = 0;

  /** @throws SourceRefusedError when there are too many */
  spend(entries: number): void {
    this.#entries += entries;
    if (this.#entries > MAX_ENTRIES) throw new SourceRefusedError(`it has more than ${MAX_ENTRIES} entries`);
  }
}

/** Names have some hundred bytes, and Linux keeps up to 64 KiB of a file's attributes. One is in memory, and read in one go. */
const MAX_EXTENSION_KIB = 256;

/** pax and GNU have up to four for an entry, of a kilobyte each with its own block: 40 MiB for the most entries there may be. */
const MAX_EXTENSIONS_MIB = 64;

/** Counts the headers of a tar that are no entries: its budget is of bytes, so that neither many nor long ones are free. */
export class ExtensionBudget {
  #bytes = 0;

  /** @param bytes of one, as its header says @throws SourceRefusedError when that is too much */
  spend(bytes: number): void {
    if (!(bytes <= MAX_EXTENSION_KIB * 1024))
      throw new SourceRefusedError(`it has a header of more than ${MAX_EXTENSION_KIB} KiB`);
    this.#bytes += BLOCK_BYTES + bytes;
    if (this.#bytes > MAX_EXTENSIONS_MIB * MIB)
      throw new SourceRefusedError(`it has more than ${MAX_EXTENSIONS_MIB} MiB of headers for its entries`);
  }
}
