import type { House } from '@pasteflow/domain';
import { databaseTime } from '@pasteflow/postgres';
import { readPaste } from '../../read-content.ts';
import type { JobContext, JobServices } from '../../job-type.ts';
import { pastesOfArchive } from './archive-pastes.ts';
import { pasteFromFiles, pasteFromObject } from './entry-paste.ts';
import { type Entry, ImportRefusedError, type Input } from './input.ts';
import { ndjsonInput } from './ndjson.ts';
import type { EntryDefaults, ImportParameters } from './parameters.ts';
import { detectFormat, gunzipInPieces, PIECE_BYTES, type SourceFormat } from './byte-source.ts';
import { type ArchiveFile, InflationBudget, type ReadOptions, SourceRefusedError } from './archive-rules.ts';
import { inPieces } from '../export/archive-formats.ts';
import { readTar } from './read-tar.ts';
import { readZip } from './read-zip.ts';

interface PasteRules {
  readonly defaults: EntryDefaults;
  readonly maxBytes: number;
  readonly house: House;
  /** By the clock that expires the paste. */
  readonly now: Date;
}

/**
 * Opens the input that the parameters name. An archive is read to its end first, so that nothing is imported
 * from one that is refused.
 * @throws ImportRefusedError, DependencyUnavailableError, or the signal's reason
 */
export async function openInput({
  parameters,
  house,
  userId,
  services,
  signal,
}: JobContext<ImportParameters>): Promise<Input> {
  const { items, source_short_code: shortCode, as_one_paste: asOnePaste = false, ...defaults } = parameters;
  const { maxPasteBytes: maxBytes } = services;
  const rules = { defaults, maxBytes, house, now: await databaseTime(services.db) };
  if (items !== undefined) return itemsInput(items, rules);
  if (shortCode === undefined) throw new ImportRefusedError('There is nothing to import.');
  const source = await readSource(services, { shortCode, userId, signal });
  try {
    return await sourceInput(source, { ...rules, asOnePaste }, signal);
  } catch (error) {
    if (!(error instanceof SourceRefusedError)) throw error;
    throw new ImportRefusedError(`The paste ${shortCode} cannot be imported: ${error.message}.`, {
      cause: error,
    });
  }
}

function itemsInput(items: NonNullable<ImportParameters['items']>, rules: PasteRules): Input {
  return {
    total: items.length,
    *entries(): Generator<Entry> {
      for (const [position, item] of items.entries())
        yield { position, name: null, read: () => pasteFromObject(item, rules) };
    },
  };
}

interface SourceRules extends PasteRules {
  readonly asOnePaste: boolean;
}

async function sourceInput(source: Buffer, rules: SourceRules, signal: AbortSignal): Promise<Input> {
  const format = detectFormat(source);
  if (format === null) throw new SourceRefusedError('it is neither NDJSON nor a tar, a tar.gz or a zip');
  if (format === 'ndjson' && rules.asOnePaste)
    throw new SourceRefusedError(
      'it is NDJSON, whose lines are pastes, and only an archive can be one paste',
    );
  if (format === 'ndjson') return ndjsonInput(source, (object) => pasteFromObject(object, rules));
  return await archiveInput(format, source, rules, signal);
}

/**
 * Reads the archive twice, which costs seconds at most. Otherwise up to 512 MiB of files would stay in memory
 * until the last is checked.
 */
async function archiveInput(
  format: ArchiveFormat,
  source: Buffer,
  rules: SourceRules,
  signal: AbortSignal,
): Promise<Input> {
  const pastes = (maxKeptBytes: number) =>
    pastesOfArchive(readArchive(format, source, { maxKeptBytes, signal }), rules);
  let total = 0;
  for await (const _ of pastes(0)) total += 1;
  return {
    total,
    async *entries(): AsyncGenerator<Entry> {
      for await (const { position, isSkipped, ...of } of pastes(rules.maxBytes)) {
        const [first, second] = of.files;
        const name = of.folder ?? (second === undefined && first !== undefined ? first.name : null);
        yield { position, name, isSkipped, read: () => pasteFromFiles(of, rules) };
      }
    },
  };
}

/**
 * Reads the paste that is to be imported.
 * @throws ImportRefusedError, WorkFailedError, DependencyUnavailableError, or the signal's reason
 */
async function readSource(
  services: Pick<JobServices, 'db' | 'store'>,
  of: { shortCode: string; userId: string; signal: AbortSignal },
): Promise<Buffer> {
  const { shortCode } = of;
  const found = await readPaste(services, of);
  switch (found.kind) {
    case 'content':
      return found.content;
    case 'not_found':
      throw new ImportRefusedError(`There is no paste ${shortCode}.`);
    case 'gone':
      throw new ImportRefusedError(`The paste ${shortCode} has expired or was deleted.`);
    case 'held':
      throw new ImportRefusedError(
        `The paste ${shortCode} is held until an operator has judged its reports. Import it later.`,
      );
    case 'burns':
      throw new ImportRefusedError(
        `The paste ${shortCode} is deleted when it is read, and is no source of an import. Make a paste without burn.`,
      );
    default:
      return found satisfies never;
  }
}

export type ArchiveFormat = Exclude<SourceFormat, 'ndjson'>;

/**
 * Yields the regular files of an untrusted archive. An archive inside it is a file like any other.
 * @throws SourceRefusedError, possibly after some files: an archive is known to be valid only after it was
 * read to its end
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
    // The whole archive is in memory, so an error means that it is damaged or uses an unsupported feature.
    throw new SourceRefusedError(
      `it cannot be read: ${Error.isError(error) ? error.message : String(error)}`,
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
