import { importedPositions } from '@pasteflow/postgres';
import { defineJobType, type JobContext, type JobEnding } from '../../job-type.ts';
import { importEntries } from './import-entries.ts';
import { ImportRefusedError } from './input.ts';
import { ImportReport } from './import-report.ts';
import { openInput } from './open-input.ts';
import { importParameters, type ImportParameters } from './parameters.ts';
import { requireUploadTurn } from './upload-turn.ts';

export const importJob = defineJobType({
  name: 'import',
  summary: 'Creates many pastes from a list of items, or from a paste that is NDJSON or an archive.',
  parameters: importParameters,
  contentParameters: ['items'],
  readShortCodes: ({ source_short_code: source }) => (source === undefined ? [] : [source]),
  example: { items: [{ content: 'Hello, world!', title: 'Greeting', expires_in: 3600 }] },
  run,
});

/**
 * The result contains `imported` and `failed` (the numbers of entries that did and did not become pastes) and
 * `errors` (the first thousand failed entries), and where macOS has added files to the archive, `skipped`
 * (their number) and `skipped_files` (the first thousand). An attempt skips the positions that earlier
 * attempts have imported, and those that the jobs have imported that this one retries (`imported_earlier`).
 */
async function run(context: JobContext<ImportParameters>): Promise<JobEnding> {
  await requireUploadTurn(context); // before the input is read
  const report = new ImportReport();
  const done = await importedPositions(context.services.db, context.jobId);
  if (done === null)
    return report.refused('A job that this one retries was removed. Create a new job instead.');
  report.imported(done.own.size);
  report.importedEarlier(done.earlier.size);
  const all = new Set([...done.own, ...done.earlier]);
  try {
    await importEntries(context, await openInput(context), { done: all, report });
  } catch (error) {
    if (error instanceof ImportRefusedError) return report.refused(error.message);
    throw error;
  }
  return report.ending();
}
