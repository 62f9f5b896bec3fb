import { inPieces } from '../export/archive.ts';
import { type ArchiveFile, InflationBudget, type ReadOptions, SourceRefusedError } from './archive-rules.ts';
import { gunzipInPieces, PIECE_BYTES, type SourceFormat } from './byte-source.ts';
import { readTar } from './read-tar.ts';
import { readZip } from './read-zip.ts';

export type ArchiveFormat = Exclude<SourceFormat, 'ndjson'>;

/**
 * Yields the regular files of an untrusted archive. An archive inside it is a file like any other.
 * @throws SourceRefusedError, possibly after some files: an archive is known to be valid only after it was
 * read to its end
 * @throws the signal's reason
 */
export async function* readArchive(
  format: ArchiveFormat,
  source: Buffer,
  options: ReadOptions,
): AsyncGenerator<ArchiveFile> {
  try {
    yield* filesOf(format, source, options);
  } catch (error) {
    options.signal.throwIfAborted();
    if (error instanceof SourceRefusedError) throw error;
    // The whole archive is in memory, so an error means that it is damaged or uses an unsupported feature.
    throw new SourceRefusedError(
      `it cannot be read: ${Error.isError(error) ? error.message : String(error)}`,
      {
        cause: error,
      },
    );
  }
}

function filesOf(format: ArchiveFormat, source: Buffer, options: ReadOptions): AsyncGenerator<ArchiveFile> {
  switch (format) {
    case 'zip':
      return readZip(source, options);
    case 'tar':
      return readTar(inPieces(source, PIECE_BYTES), {
        ...options,
        stated: new InflationBudget(source.length),
      });
    case 'tar.gz':
      return readTar(gunzipInPieces(source), { ...options, stated: new InflationBudget(source.length) });
    default:
      return format satisfies never;
  }
}
