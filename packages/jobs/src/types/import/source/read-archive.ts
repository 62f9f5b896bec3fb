import { inPieces } from '../../../content/in-pieces.ts';
import { SourceRefusedError } from './source-refused.ts';
import type { SourceFormat } from './detect-format.ts';
import type { ArchiveFile, ReadOptions } from './archived-file.ts';
import { gunzipInPieces, PIECE_BYTES } from './gunzip.ts';
import { InflationBudget } from './limits.ts';
import { readTar } from './read-tar.ts';
import { readZip } from './read-zip.ts';

export type ArchiveFormat = Exclude<SourceFormat, 'ndjson'>;

/**
 * The regular files of an archive, one after the other; an archive among them is a file like any other. Nothing in it is trusted.
 * @throws SourceRefusedError, maybe after files were given: only who has read to the end knows that there is nothing wrong with it
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
    // All of it is in memory: what goes wrong while it is read is its own fault, or a form that is not supported.
    throw new SourceRefusedError(
      `it can't be read: ${Error.isError(error) ? error.message : String(error)}`,
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
