import type { Readable } from 'node:stream';
import type { ExportablePaste } from '@pasteflow/postgres';

/** A paste on its way into an archive. */
export interface ExportedFile {
  readonly paste: ExportablePaste;
  readonly content: Buffer;
}

/** Trying again would not change it. */
export class TooManyFilesError extends Error {
  constructor(limit: number) {
    super(
      `A zip holds up to ${limit} pastes here: export as tar.gz or ndjson, or less at a time, by created_after and created_before.`,
    );
    this.name = 'TooManyFilesError';
  }
}

/** One of the forms that an export can have. */
export interface ArchiveFormat {
  /** Of the object's key, with its dot. */
  readonly extension: string;
  readonly contentType: string;
  /** More than so many fail with a TooManyFilesError. */
  readonly maxFiles: number;
  /**
   * The archive of the files, as they come: it takes the next one when what it gave has been read. The error of either ends the other.
   */
  write(files: AsyncIterable<ExportedFile>): Readable;
}
