import type { JobContext } from '../../definition/job-type.ts';
import { importBatch } from './import-batch.ts';
import { InvalidEntryError } from './import-errors.ts';
import type { ImportReport } from './import-report.ts';
import type { EntryPaste, Input, PositionedPaste } from './input.ts';

/** Limits of a batch, which is one statement and held in memory. A larger entry is a batch of its own. */
const MAX_BATCH_ENTRIES = 100;
const MAX_BATCH_BYTES = 8 * 1024 * 1024;

/**
 * Creates a paste for each entry that no earlier attempt has imported.
 * @throws ExecutionTakenError, DependencyUnavailableError, or the signal's reason. The pastes created until then stay.
 */
export async function importEntries(
  context: Omit<JobContext<unknown>, 'parameters'>,
  input: Input,
  { done, report }: { done: ReadonlySet<number>; report: ImportReport },
): Promise<void> {
  let batch: PositionedPaste[] = [];
  let bytes = 0;
  const flush = async (): Promise<void> => {
    context.signal.throwIfAborted();
    const blocked = await importBatch(context, batch);
    report.imported(batch.length - blocked.length);
    for (const { position, name } of blocked)
      report.invalid(position, name, 'the operator of this service has blocked this content');
    context.progress((100 * report.handled) / input.total, `${report.handled} of ${input.total} entries`);
    batch = [];
    bytes = 0;
  };
  for await (const { position, name, isSkipped = false, read } of input.entries()) {
    context.signal.throwIfAborted();
    if (done.has(position)) continue;
    if (isSkipped) {
      report.skipped(position, name);
      continue;
    }
    let paste: EntryPaste;
    try {
      paste = read();
    } catch (error) {
      if (!(error instanceof InvalidEntryError)) throw error;
      report.invalid(position, name, error.message);
      continue;
    }
    if (
      batch.length === MAX_BATCH_ENTRIES ||
      (batch.length > 0 && bytes + paste.content.length > MAX_BATCH_BYTES)
    )
      await flush();
    batch.push({ position, name, paste });
    bytes += paste.content.length;
  }
  if (batch.length > 0) await flush();
}
