import { pipeline, Transform, type TransformCallback } from 'node:stream';
import { ExecutionTakenError } from '@pasteflow/domain';
import type { JobContext } from '../../job-type.ts';
import type { ExportReport } from './export-report.ts';
import type { ArchiveFormat, ExportedFile } from './archive-formats.ts';
import type { PasteFiles } from './outcomes.ts';
import { archiveKey } from './remove-archives.ts';

const ASSET_TYPE = 'archive';

/** An archive ends with the file with which it passes one of these. */
export interface ArchiveLimits {
  /** Of its output. */
  readonly bytes: number;
  readonly files: number;
  readonly ms: number;
}

/**
 * Writes the next archive of the export, up to its limits or until the worker stops, and commits it with the
 * place where it ends. Its key has the execution and the number, so that the put of a zombie never replaces it.
 * @throws ExecutionTakenError when another worker has the job
 */
export async function writeArchive(
  context: JobContext<unknown>,
  {
    format,
    limits,
    first,
    files,
    report,
  }: {
    readonly format: ArchiveFormat;
    readonly limits: ArchiveLimits;
    /** null: the archive is empty. */
    readonly first: ExportedFile | null;
    readonly files: PasteFiles;
    readonly report: ExportReport;
  },
): Promise<void> {
  const { services, signal, stopping } = context;
  const number = report.archives + 1;
  const key = archiveKey(context, `${number}${format.extension}`);
  const begunAt = performance.now();
  let bytes = 0;
  let count = 0;
  const isFull = (): boolean =>
    stopping.aborted ||
    bytes >= limits.bytes ||
    count >= limits.files ||
    performance.now() - begunAt >= limits.ms;
  async function* untilFull(): AsyncGenerator<ExportedFile> {
    for (let file = first; file !== null; file = isFull() ? null : await files.next()) {
      yield file;
      count += 1;
    }
  }
  const counted = new Transform({
    transform(piece: Buffer, _encoding, done: TransformCallback) {
      bytes += piece.length;
      done(null, piece);
    },
  });
  pipeline(format.write(untilFull()), counted, () => {});
  const fileSize = await services.store.putStream(key, counted, { contentType: format.contentType, signal });
  try {
    const archive = { number, checkpoint: report.checkpoint };
    await context.createAsset({ assetType: ASSET_TYPE, storagePath: key, fileSize, archive });
  } catch (error) {
    // The worker that holds the job now does not know this object.
    if (error instanceof ExecutionTakenError) await services.store.deleteMany([key]).catch(() => []);
    throw error;
  }
  report.archived(fileSize);
}
