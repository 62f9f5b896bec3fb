import { ExecutionTakenError } from '@pasteflow/domain';
import { databaseTime, removeAssets, type ExportFilter } from '@pasteflow/postgres';
import { ObjectTooLargeError } from '@pasteflow/s3';
import { defineJobType, type JobContext, type JobEnding } from '../../definition/job-type.ts';
import { readContentOrReason } from './read-content-or-reason.ts';
import { ExportProgress } from './export-progress.ts';
import { ExportReport } from './export-report.ts';
import { TooManyFilesError, type ExportedFile } from './formats/archive-format.ts';
import { archiveFormats } from './formats/export-formats.ts';
import { archiveKey, removeUnfinishedArchives } from './remove-unfinished-archives.ts';
import { exportParameters, type ExportParameters } from './parameters.ts';
import { hasMoreThan, selectPastes } from './select-pastes.ts';
import { readAhead } from './read-ahead.ts';

const ASSET_TYPE = 'archive';
const GIB = 1024 ** 3;

export const exportJob = defineJobType({
  name: 'export',
  summary: "Puts all of the caller's pastes, or those of a time or a status, into one archive.",
  parameters: exportParameters,
  example: { format: 'zip', created_after: '2026-01-01T00:00:00Z' },
  run,
});

/**
 * What the result has: `exported`, how many pastes are in the archive, its size in `bytes`, and of those whose content is missing
 * `missing_count` and, for the first thousand, `missing`. An attempt begins anew: an archive is whole or it is none.
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
  else await keep(context, { key, bytes });
  return report.ending(bytes);
}

/** Why trying again would not change it; null: it may. */
function permanentFailure(error: unknown): string | null {
  if (error instanceof TooManyFilesError) return error.message;
  if (error instanceof ObjectTooLargeError)
    return `An archive has up to ${Math.floor(error.maxBytes / GIB)} GiB here: export less at a time, by created_after and created_before.`;
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
    // What is made from now on is no part of it: it would else never end for a user who makes pastes faster than they are exported.
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
  const far = await ExportProgress.begin(services.db, filter);
  const pastes = selectPastes(services.db, filter, signal);
  const read = readAhead(pastes, (paste, stop) => readContentOrReason(services, paste, stop), signal);
  for await (const { item: paste, result } of read) {
    if (result.kind === 'content') {
      yield { paste, content: result.content };
      report.exported();
    } else if (result.kind === 'missing') report.missing(paste.shortCode, result.reason);
    context.progress(far.percentAt(report.handled, paste.createdAt), `${report.handled} pastes`);
  }
}

/** The archive becomes an asset, and the only one: an earlier attempt may have died between making its own and saying so. */
async function keep(
  context: JobContext<ExportParameters>,
  { key, bytes }: { key: string; bytes: number },
): Promise<void> {
  const { jobId, executionId, services } = context;
  try {
    await context.createAsset({ assetType: ASSET_TYPE, storagePath: key, fileSize: bytes });
  } catch (error) {
    // Whoever has the job now knows nothing of this object.
    if (error instanceof ExecutionTakenError) await services.store.deleteMany([key]).catch(() => []);
    throw error;
  }
  const replaced = await removeAssets(services.db, { executionId, jobId, except: key });
  if (replaced.length > 0) await services.store.deleteMany(replaced);
}
