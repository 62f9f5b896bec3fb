import { pipeline, Transform, type TransformCallback } from 'node:stream';
import { countPastes, type Database, type ExportFilter, readExport } from '@pasteflow/postgres';
import { pasteUpload, statesOf, ExecutionTakenError } from '@pasteflow/domain';
import { mustBeOneOf } from '@pasteflow/service-kit';
import { z } from 'zod';
import { defineJobType, type JobContext, type JobEnding } from '../../job-type.ts';
import { type Checkpoint, ExportReport } from './export-report.ts';
import { archiveFormats, exportFormats, type ArchiveFormat, type ExportedFile } from './archive-formats.ts';
import { outcomesOf, PasteFiles } from './outcomes.ts';
import { removeOlderArchives, removeUnfinishedArchives, archiveKey } from './remove-archives.ts';

const time = (description: string) =>
  z.iso.datetime({ offset: true, error: 'must be an RFC 3339 time' }).optional().meta({ description });

/**
 * The parameters of an export. Each attempt parses the stored output again, so parsing an output must return
 * the same output.
 */
const exportParameters = z
  .strictObject(
    {
      format: z.enum(exportFormats, mustBeOneOf(exportFormats)).default('zip').meta({
        description:
          'zip and tar.gz: one file for each paste, named after its short code and title, or a folder where it has several files. ndjson: one line for each paste, which an import can read.',
      }),
      created_after: time('Export pastes created at or after this time.'),
      created_before: time('Export pastes created before this time.'),
      status: z
        .enum(statesOf(pasteUpload), mustBeOneOf(statesOf(pasteUpload)))
        .optional()
        .meta({
          description:
            'Export pastes in this status. Default: pastes that have content. FAILED pastes have none: when requested, they are listed as missing.',
        }),
    },
    { error: (issue) => (issue.code === 'invalid_type' ? 'must be a JSON object' : undefined) },
  )
  .refine(
    ({ created_after: after, created_before: before }) =>
      after === undefined || before === undefined || Date.parse(after) < Date.parse(before),
    { path: ['created_before'], message: 'must be later than created_after' },
  );

type ExportParameters = z.output<typeof exportParameters>;

/**
 * Of one user. Each may leave archives of all that the user stores, beside the three that are kept, so that
 * exports take up a few times what the quotas allow.
 */
const MAX_OPEN_EXPORTS = 3;

/**
 * An archive ends when it has passed one of these. 256 MiB are 33 parts, which every S3 server takes. A zip keeps
 * half a kilobyte for each file in memory until its end. A worker that is killed loses 30 s of work.
 */
const LIMITS: ArchiveLimits = { bytes: 256 * 1024 * 1024, files: 50_000, ms: 30_000 };

export const exportJob = defineJobType({
  name: 'export',
  summary:
    "Writes the caller's pastes into archives: all of them up to the creation of the job, or those of a period or a status.",
  parameters: exportParameters,
  example: { format: 'zip', created_after: '2026-01-01T00:00:00Z' },
  maxOpen: MAX_OPEN_EXPORTS,
  readShortCodes: () => [],
  run: (context) => exportPastes(context, LIMITS),
});

/**
 * Writes archive after archive. Each commits with the place where it ends, and the next attempt goes on there.
 *
 * The result contains `exported` (the number of pastes in the archives), `archives` and `bytes` (their number
 * and size), `missing_count` (the pastes without content) and `missing` (the first thousand of them) and
 * `left_out` (the pastes that are deleted when they are read).
 */
export async function exportPastes(
  context: JobContext<ExportParameters>,
  limits: ArchiveLimits,
): Promise<JobEnding> {
  const { parameters, jobId, services, signal, stopping } = context;
  await removeUnfinishedArchives(context);
  await removeOlderArchives(context, { own: 0 });
  const begun = await readExport<Checkpoint>(services.db, jobId);
  const filter = filterOf(context, begun.createdAt);
  const report = new ExportReport(begun.archives);
  const progress = await ExportProgress.begin(services.db, filter, begun.progress);
  const ended = new AbortController();
  const anyEnd = AbortSignal.any([signal, ended.signal]);
  const outcomes = outcomesOf(services, filter, report.place, anyEnd);
  const files = new PasteFiles(outcomes, stopping, (outcome) => {
    report.add(outcome);
    context.progress(progress.percentAt(report.handled, outcome.paste.createdAt), `${report.handled} pastes`);
  });
  try {
    let first = await files.next();
    while (first !== null || (files.hasEnded && report.needsEmptyArchive)) {
      await writeArchive(context, {
        format: archiveFormats[parameters.format],
        limits,
        first,
        files,
        report,
      });
      first = await files.next();
    }
    if (!files.hasEnded) stopping.throwIfAborted();
  } finally {
    ended.abort();
    await outcomes.return(undefined);
  }
  if (report.archives > 0) await removeOlderArchives(context, { own: 1 });
  return report.ending();
}

/**
 * Pastes that were created after the job are excluded. Otherwise an export would not end for a user who creates
 * pastes faster than it reads them, and each attempt would export others.
 */
function filterOf(
  { parameters, userId }: JobContext<ExportParameters>,
  createdAt: string,
): ExportFilter & { readonly createdBefore: string } {
  const { created_after: after, created_before: before, status = null } = parameters;
  return {
    userId,
    createdAfter: after === undefined ? null : new Date(after),
    createdBefore: before !== undefined && Date.parse(before) < Date.parse(createdAt) ? before : createdAt,
    status,
  };
}

/** Counting is an index-only scan. For more pastes than this it takes too long. */
const MAX_COUNTED = 100_000;

/**
 * Estimates the progress of an export: from the number of pastes if they were counted, otherwise from their
 * creation times, beginning with what earlier attempts have reached.
 */
class ExportProgress {
  readonly #total: number | null;
  readonly #until: number;
  readonly #reached: number;
  #since: number | undefined;

  /**
   * @param total approximate number of pastes; null: more than MAX_COUNTED
   * @param until no paste was created later
   * @param reached by earlier attempts, in per cent
   */
  constructor(total: number | null, until: Date, reached: number) {
    this.#total = total;
    this.#until = until.getTime();
    this.#reached = reached;
  }

  static async begin(
    db: Database,
    filter: ExportFilter & { readonly createdBefore: string },
    reached: number,
  ): Promise<ExportProgress> {
    const counted = await countPastes(db, filter, MAX_COUNTED);
    return new ExportProgress(
      counted < MAX_COUNTED ? counted : null,
      new Date(filter.createdBefore),
      reached,
    );
  }

  /**
   * 0 to 99 after `done` pastes of all attempts, the last of them created at `createdAt`. The last percent is
   * the end of the archive.
   */
  percentAt(done: number, createdAt: Date): number {
    if (this.#total !== null) return 99 * Math.min(done / Math.max(this.#total, 1), 1);
    this.#since ??= createdAt.getTime();
    const part = (createdAt.getTime() - this.#since) / Math.max(this.#until - this.#since, 1);
    return this.#reached + Math.max(99 - this.#reached, 0) * Math.min(part, 1);
  }
}

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
async function writeArchive(
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
