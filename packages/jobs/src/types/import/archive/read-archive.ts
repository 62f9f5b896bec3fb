import { ImportRefusedError } from '../import-refused.ts';
import type { SourceFormat } from '../format-of.ts';
import type { ArchiveFile, ReadOptions } from './archive-file.ts';
import { gunzipped, piecesOf } from './gunzip.ts';
import { InflationBudget } from './limits.ts';
import { readTar } from './read-tar.ts';
import { readZip } from './read-zip.ts';

export type ArchiveFormat = Exclude<SourceFormat, 'ndjson'>;

/**
 * The regular files of an archive, one after the other; an archive among them is a file like any other. Nothing in it is trusted.
 * @throws ImportRefusedError, maybe after files were given: only who has read to the end knows that there is nothing wrong with it
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
    if (error instanceof ImportRefusedError) throw error;
    // All of it is in memory: what goes wrong while it is read is its own fault, or a form that is not supported.
    throw new ImportRefusedError(
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
      return readTar(piecesOf(source), { ...options, stated: new InflationBudget(source.length) });
    case 'tar.gz':
      return readTar(gunzipped(source), { ...options, stated: new InflationBudget(source.length) });
    default:
      return format satisfies never;
  }
}
