import {
  findBlocked,
  findQuotaRefusal,
  importedPositions,
  type ImportEntry,
  importPastes,
  readOpenUploads,
} from '@pasteflow/postgres';
import { objectKeyOf, QuotaExceededError, type UsedUpQuota } from '@pasteflow/domain';
import { contentHashOf, MAX_SHORT_CODE_TRIES } from '@pasteflow/service-kit';
import { defineJobType, WorkYieldedError, type JobContext, type JobEnding } from '../../job-type.ts';
import {
  type EntryPaste,
  ImportRefusedError,
  type Input,
  InvalidEntryError,
  type PositionedPaste,
} from './input.ts';
import { ImportReport } from './import-report.ts';
import { openInput } from './open-input.ts';
import { importParameters, type ImportParameters } from './parameters.ts';

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

/** Limits of a batch, which is one statement and held in memory. A larger entry is a batch of its own. */
const MAX_BATCH_ENTRIES = 100;
const MAX_BATCH_BYTES = 8 * 1024 * 1024;

/**
 * Creates a paste for each entry that no earlier attempt has imported.
 * @throws ImportRefusedError when a quota is used up, WorkYieldedError, ExecutionTakenError, DependencyUnavailableError, or the
 * signal's reason. The pastes created until then stay.
 */
async function importEntries(
  context: Omit<JobContext<unknown>, 'parameters'>,
  input: Input,
  { done, report }: { done: ReadonlySet<number>; report: ImportReport },
): Promise<void> {
  let batch: PositionedPaste[] = [];
  let bytes = 0;
  const flush = async (): Promise<void> => {
    context.signal.throwIfAborted();
    await requireUploadTurn(context);
    const { blocked, unaffordable, usedUp } = await importBatch(context, batch);
    report.imported(batch.length - blocked.length - unaffordable.length);
    for (const { position, name } of blocked)
      report.invalid(position, name, 'the operator of this service has blocked this content');
    if (usedUp !== null)
      throw new ImportRefusedError(
        `The import has stopped after ${report.handled} of ${input.total} entries. ${new QuotaExceededError(usedUp).message} Then import the other entries.`,
      );
    // What macOS has added can be told only by its content, so that `total` may lack some of it.
    context.progress(
      Math.min(100, (100 * report.handled) / input.total),
      `${report.handled} of ${input.total} entries`,
    );
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

interface BatchResult {
  readonly blocked: readonly PositionedPaste[];
  /** Those of which no paste was made since `usedUp`, the quota, doesn't allow the first of them. */
  readonly unaffordable: readonly PositionedPaste[];
  readonly usedUp: UsedUpQuota | null;
}

/**
 * Creates the pastes in one statement, and those whose short code was already taken in further ones.
 * @returns the entries of which no paste was made, because an operator has blocked their content, or because
 * a quota is used up
 * @throws ExecutionTakenError
 */
async function importBatch(
  { jobId, executionId, userId, services }: Omit<JobContext<unknown>, 'parameters'>,
  batch: readonly PositionedPaste[],
): Promise<BatchResult> {
  const { db, store, newShortCode, dispatchUploads, quotas = null } = services;
  const toEntry = ({ position, paste }: PositionedPaste): ImportEntry => {
    const shortCode = newShortCode();
    const storagePath = objectKeyOf(shortCode);
    return {
      position,
      url: store.urlOf(storagePath),
      storagePath,
      paste: {
        ...paste,
        userId,
        shortCode,
        contentHash: contentHashOf(paste.content),
        deleteTokenHash: null,
      },
    };
  };
  let left = batch;
  let blocked: readonly PositionedPaste[] = [];
  for (let tried = 0; left.length > 0; tried += 1) {
    if (tried === MAX_SHORT_CODE_TRIES) throw new Error('No unused short codes were found.');
    const made = await importPastes(db, { executionId, jobId, entries: left.map(toEntry), quotas });
    const contents = new Map(left.map(({ position, paste }) => [position, paste.content]));
    dispatchUploads(
      made.map(({ position, ...upload }) => ({ ...upload, content: contents.get(position) as Buffer })),
    );
    const positions = new Set(made.map(({ position }) => position));
    left = left.filter(({ position }) => !positions.has(position));
    if (left.length === 0) break;
    const hashes = await findBlocked(db, left.map(hashOf));
    blocked = [...blocked, ...left.filter((each) => hashes.has(hashOf(each)))];
    left = left.filter((each) => !hashes.has(hashOf(each)));
    const [next] = left;
    if (next === undefined || quotas === null) continue;
    const usedUp = await findQuotaRefusal(db, { userId, sizeBytes: next.paste.content.length }, quotas);
    if (usedUp !== null) return { blocked, unaffordable: left, usedUp };
  }
  return { blocked, unaffordable: [], usedUp: null };
}

function hashOf({ paste }: PositionedPaste): string {
  return contentHashOf(paste.content);
}

/**
 * Of one user, before an import makes a batch of 100 more. Another user's paste waits behind them: for half a
 * second, when a worker stores 400 in a second.
 */
const MAX_OPEN_UPLOADS = { uploads: 100, bytes: 64 * 1024 * 1024 };

const MIN_DELAY_SECONDS = 1;
const MAX_DELAY_SECONDS = 60;

/**
 * Checks that few uploads of the user are open. Otherwise the job comes back after as long as the oldest of
 * them has waited, times the jobs of its user: so all of them together come back about as often as one.
 * @throws WorkYieldedError
 */
async function requireUploadTurn({
  userId,
  services: { db, maxOpenUploads: { uploads, bytes } = MAX_OPEN_UPLOADS },
}: Pick<JobContext<unknown>, 'userId' | 'services'>): Promise<void> {
  const open = await readOpenUploads(db, userId, uploads + 1);
  if (open.uploads <= uploads && open.bytes <= bytes) return;
  const seconds = Math.max(MIN_DELAY_SECONDS, open.oldestSeconds) * open.jobs;
  throw new WorkYieldedError(1000 * Math.min(MAX_DELAY_SECONDS, seconds));
}
