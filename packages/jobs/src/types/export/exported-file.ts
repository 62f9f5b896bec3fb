import type { Readable } from 'node:stream';
import type { ExportablePaste } from '@pasteflow/postgres';

/** A paste on its way into an archive. */
export interface ExportedFile {
  readonly paste: ExportablePaste;
  readonly content: Buffer;
}

/** One of the forms that an export can have. */
export interface ArchiveFormat {
  /** Of the object's key, with its dot. */
  readonly extension: string;
  readonly contentType: string;
  /**
   * The archive of the files, as they come: it takes the next one when what it gave has been read. The error of either ends the other.
   */
  write(files: AsyncIterable<ExportedFile>): Readable;
}
