import type { Readable } from 'node:stream';
import type { ExportablePaste } from '@pasteflow/postgres';

/** A paste with its content, to be written to an archive. */
export interface ExportedFile {
  readonly paste: ExportablePaste;
  readonly content: Buffer;
}

/** Another attempt would fail in the same way. */
export class TooManyFilesError extends Error {
  constructor(limit: number) {
    super(
      `A zip export can contain at most ${limit} pastes. Export as tar.gz or ndjson, or export less at a time with created_after and created_before.`,
    );
    this.name = 'TooManyFilesError';
  }
}

/** A format of an export. */
export interface ArchiveFormat {
  /** The extension of the object's key, with its dot. */
  readonly extension: string;
  readonly contentType: string;
  /** `write` throws a TooManyFilesError for more files. */
  readonly maxFiles: number;
  /** Writes the files to an archive with backpressure: the next file is requested when the output was read. An error on one side ends the other. */
  write(files: AsyncIterable<ExportedFile>): Readable;
}
