import { readExport, type ExportFilter } from '@pasteflow/postgres';
import { defineJobType, type JobContext, type JobEnding } from '../../job-type.ts';
import { ExportProgress } from './export-progress.ts';
import { ExportReport, type Checkpoint } from './export-report.ts';
import { archiveFormats } from './archive-formats.ts';
import { removeOlderArchives } from './older-archives.ts';
import { outcomesOf } from './outcomes.ts';
import { exportParameters, type ExportParameters } from './parameters.ts';
import { PasteFiles } from './paste-files.ts';
import { removeUnfinishedArchives } from './remove-unfinished-archives.ts';
import { writeArchive, type ArchiveLimits } from './write-archive.ts';

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
