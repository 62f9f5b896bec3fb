import { ExecutionTakenError } from '@pasteflow/domain';
import { databaseTime, findAlive, removeAssets, type ExportFilter } from '@pasteflow/postgres';
import { ObjectTooLargeError } from '@pasteflow/s3';
import { defineJobType, type JobContext, type JobEnding } from '../../definition/job-type.ts';
import { readContentOrReason } from '../../content/read-content.ts';
import { ExportProgress, ExportReport } from './export-report.ts';
import { TooManyFilesError, type ExportedFile } from './formats/archive.ts';
import { archiveFormats } from './formats/archive-formats.ts';
import { archiveKey, removeUnfinishedArchives } from './remove-unfinished-archives.ts';
import { exportParameters, type ExportParameters } from './parameters.ts';
import { hasMoreThan, selectPastes } from './select-pastes.ts';
import { readAhead } from './read-ahead.ts';

const ASSET_TYPE = 'archive';
const GIB = 1024 ** 3;

/**
 * A paste is checked again when this time has passed before its turn to be written, because S3 took the ones
 * before it slowly.
 */
const MAX_CHECK_AGE_MS = 1000;

export const exportJob = defineJobType({
  name: 'export',
  summary: "Writes the caller's pastes into one archive: all of them, or those of a period or a status.",
  parameters: exportParameters,
  example: { format: 'zip', created_after: '2026-01-01T00:00:00Z' },
  readShortCodes: () => [],
  run,
});

/**
 * The result contains `exported` (the number of pastes in the archive), `bytes` (its size), `missing_count`
 * (the pastes without content) and `missing` (the first thousand of them) and `left_out` (the pastes that are
 * deleted when they are read). Each attempt starts from the beginning, because an incomplete archive is of no
 * use.
 */
async function run(context: JobContext<ExportParameters>): Promise<JobEnding> {
  const { parameters, signal, services } = context;
  const format = archiveFormats[parameters.format];
  const key = archiveKey(context, format.extension);
  const report = new ExportReport();
  await removeUnfinishedArchives(context);
  const filter = await filterOf(context);
  let bytes: number;
  try {
    if (await hasMoreThan(format.maxFiles, services.db, filter, signal))
      throw new TooManyFilesError(format.maxFiles);
    const archive = format.write(filesOf(context, filter, report));
    bytes = await services.store.putStream(key, archive, { contentType: format.contentType, signal });
  } catch (error) {
    const reason = permanentFailure(error);
    if (reason === null) throw error;
    return { status: 'failed', result: {}, error: reason };
  }
  if (report.isAllMissing) await services.store.deleteMany([key]);
  else await replaceAsset(context, { key, bytes });
  return report.ending(bytes);
}

/** The error text for a failure that another attempt would repeat; null for others. */
function permanentFailure(error: unknown): string | null {
  if (error instanceof TooManyFilesError) return error.message;
  if (error instanceof ObjectTooLargeError)
    return `An archive can have at most ${Math.floor(error.maxBytes / GIB)} GiB. Export less at a time with created_after and created_before.`;
  return null;
}

async function filterOf({
  parameters,
  userId,
  services,
}: JobContext<ExportParameters>): Promise<ExportFilter & { readonly createdBefore: Date }> {
  const { created_after: after, created_before: before, status = null } = parameters;
  return {
    userId,
    createdAfter: after === undefined ? null : new Date(after),
    // Pastes created from now on are excluded. Otherwise an export would not end for a user who creates
    // pastes faster than it reads them.
    createdBefore: before === undefined ? await databaseTime(services.db) : new Date(before),
    status,
  };
}

async function* filesOf(
  context: JobContext<ExportParameters>,
  filter: ExportFilter & { readonly createdBefore: Date },
  report: ExportReport,
): AsyncGenerator<ExportedFile> {
  const { signal, services } = context;
  const progress = await ExportProgress.begin(services.db, filter);
  const pastes = selectPastes(services.db, filter, signal, () => report.leftOut());
  const read = readAhead(pastes, (paste, stop) => readContentOrReason(services, paste, stop), signal);
  for await (const group of read) {
    let alive: ReadonlySet<string> = new Set();
    let checkedAt = Number.NEGATIVE_INFINITY;
    for (const [n, { item: paste, result }] of group.entries()) {
      if (result.kind === 'content') {
        // The paste was listed long before, and its content was read ahead: it may be gone.
        if (performance.now() - checkedAt > MAX_CHECK_AGE_MS) {
          checkedAt = performance.now();
          alive = await findAlive(
            services.db,
            group.slice(n).map(({ item }) => item.shortCode),
          );
        }
        if (!alive.has(paste.shortCode)) continue;
        yield { paste, content: result.content };
        report.exported();
      } else if (result.kind === 'missing') report.missing(paste.shortCode, result.reason);
      context.progress(progress.percentAt(report.handled, paste.createdAt), `${report.handled} pastes`);
    }
  }
}

/**
 * Makes the archive the only asset of the job: an earlier attempt may have created its asset and died before
 * it settled.
 */
async function replaceAsset(
  context: JobContext<ExportParameters>,
  { key, bytes }: { key: string; bytes: number },
): Promise<void> {
  const { jobId, executionId, services } = context;
  try {
    await context.createAsset({ assetType: ASSET_TYPE, storagePath: key, fileSize: bytes });
  } catch (error) {
    // The worker that holds the job now does not know this object.
    if (error instanceof ExecutionTakenError) await services.store.deleteMany([key]).catch(() => []);
    throw error;
  }
  const replaced = await removeAssets(services.db, { executionId, jobId, except: key });
  if (replaced.length > 0) await services.store.deleteMany(replaced);
}
