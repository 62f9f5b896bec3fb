import {
  type House,
  languageNamed,
  MAX_EXPIRY_SECONDS,
  MAX_FILES,
  MIN_EXPIRY_SECONDS,
  optionNames,
  optionOf,
  pasteOptions,
  type ChosenOptions,
  type OptionsWith,
  type PasteFile,
} from '@pasteflow/domain';
import {
  encryptionErrors,
  houseErrors,
  jsonFile,
  jsonPaste,
  toFiles,
  toOptions,
  type PasteFieldError,
  withExpiry,
} from '@pasteflow/service-kit';
import { z } from 'zod';
import { type EntryPaste, InvalidEntryError } from './input.ts';
import type { EntryDefaults } from './parameters.ts';
import type { FilesOfPaste } from './archive-pastes.ts';

const { maxCharacters } = pasteOptions.title;

/** The options that no entry has. */
const notImported = Object.fromEntries(
  optionNames.filter((name) => optionOf(name).isImported === false).map((name) => [name, true]),
) as Record<OptionsWith<{ readonly isImported: false }>, true>;

const options = jsonPaste.omit({ content: true, ...notImported });

/** Creates the paste of files in an archive. One without a folder is titled with its path. @throws InvalidEntryError */
export function pasteFromFiles(
  { folder, files }: Pick<FilesOfPaste, 'folder' | 'files'>,
  { defaults, maxBytes, house }: { defaults: EntryDefaults; maxBytes: number; house: House },
): EntryPaste {
  const sent = files.map(({ name, content }) => {
    if (content === null) throw tooLarge(maxBytes);
    return { name: folder === null ? name : name.slice(folder.length + 1), syntax: null, content };
  });
  const [first] = sent;
  const title = folder ?? (sent.length === 1 && first !== undefined ? first.name : null);
  const parsed = options.safeParse({ ...defaults, title: title === null ? null : titleOf(title) });
  if (!parsed.success) throw new InvalidEntryError(describeIssues(parsed.error));
  const chosen = withExpiry(house, toOptions(parsed.data), false);
  const paste =
    sent.length === 1 && first !== undefined
      ? { ...chosen, content: first.content }
      : { ...chosen, ...pasteOfFiles(sent, chosen) };
  assertContentSize(paste.content, maxBytes);
  assertRules(house, paste);
  return paste;
}

interface SentFile extends Omit<PasteFile, 'offset' | 'size'> {
  readonly content: Buffer;
}

/** @throws InvalidEntryError for names that break a rule, and too many files */
function pasteOfFiles(sent: readonly SentFile[], chosen: Pick<ChosenOptions, 'title' | 'syntax'>) {
  const sizes = sent.map(({ name, syntax, content }) => ({ name, syntax, size: content.length }));
  const made = toFiles(sizes, chosen);
  if ('errors' in made) throw new InvalidEntryError(describe(made.errors));
  return { ...made.options, content: Buffer.concat(sent.map(({ content }) => content)) };
}

/** The path. One that is too long for a title is shortened at its start, if possible at a folder. */
function titleOf(name: string): string {
  const characters = Array.from(name);
  if (characters.length <= maxCharacters) return name;
  const end = characters.slice(1 - maxCharacters).join('');
  const folder = end.indexOf('/');
  return folder === -1 ? `…${end}` : `…${end.slice(folder)}`;
}

/**
 * A paste as POST accepts it, but without a parent and a slug, or as an NDJSON export writes it. Fields that only an
 * export has are accepted and ignored.
 */
const contentFields = {
  content: jsonFile.shape.content.optional(),
  content_base64: z.string('must be a text').optional(),
};

const entrySchema = jsonPaste.omit(notImported).extend({
  ...contentFields,
  files: z
    .array(jsonFile.extend(contentFields), 'must be a list of files')
    .min(1, 'must have at least one file')
    .max(MAX_FILES, `must have at most ${MAX_FILES} files`)
    .optional(),
  expires_at: z.iso.datetime({ offset: true, error: 'must be an RFC 3339 time, or null' }).nullish(),
  short_code: z.unknown().optional(),
  slug: z.unknown().optional(),
  created_at: z.unknown().optional(),
  content_hash: z.unknown().optional(),
  size_bytes: z.unknown().optional(),
});

type SentEntry = z.output<typeof entrySchema>;
type ContentFields = Pick<SentEntry, keyof typeof contentFields>;

/**
 * Creates the paste of a JSON object. An entry's expires_at, which exports contain, applies unless it has
 * passed or expires_in is given for the entry or for all entries. So pastes that are exported and imported
 * again keep their expiry. @throws InvalidEntryError
 */
export function pasteFromObject(
  object: Readonly<Record<string, unknown>>,
  { defaults, maxBytes, house, now }: { defaults: EntryDefaults; maxBytes: number; house: House; now: Date },
): EntryPaste {
  const fields = { ...object };
  if (fields.visibility === undefined) fields.visibility = defaults.visibility;
  if (fields.expires_in === undefined)
    fields.expires_in = defaults.expires_in ?? expiryOf(object.expires_at, now);
  if (isExported(object) && languageNamed(String(object.syntax)) === null) fields.syntax = null; // of an earlier release
  const parsed = entrySchema.safeParse(fields);
  if (!parsed.success) throw new InvalidEntryError(describeIssues(parsed.error));
  const { files, ...entry } = parsed.data;
  const chosen = withExpiry(house, toOptions({ ...entry, slug: null }), false);
  const paste = {
    ...chosen,
    ...(files === undefined ? { content: contentOf(entry) } : ofFiles(files, entry, chosen)),
  };
  assertContentSize(paste.content, maxBytes);
  assertNoSlug(entry);
  const errors = encryptionErrors(paste);
  if (errors.length > 0) throw new InvalidEntryError(describe(errors));
  const isFromExport = object.expires_in === undefined && defaults.expires_in === undefined;
  assertRules(house, paste, isFromExport);
  return paste;
}

/** @param isFromExport the time is that of `expires_at` @throws InvalidEntryError */
function assertRules(house: House, { content, ...options }: EntryPaste, isFromExport = false): void {
  const errors = houseErrors(house, { ...options, sizeBytes: content.length }, false).map((error) =>
    isFromExport ? { path: 'expires_at', message: `${error.message}; choose expires_in` } : error,
  );
  if (errors.length > 0) throw new InvalidEntryError(describe(errors));
}

function ofFiles(
  files: NonNullable<SentEntry['files']>,
  entry: ContentFields,
  chosen: Pick<ChosenOptions, 'title' | 'syntax'>,
) {
  for (const path of ['content', 'content_base64'] as const)
    if (entry[path] !== undefined) throw new InvalidEntryError(`${path}: cannot be combined with files`);
  const sent = files.map((file, n) => ({ ...file, content: contentOf(file, `files.${n}.`) }));
  return pasteOfFiles(sent, chosen);
}

function describe(errors: readonly PasteFieldError[]): string {
  return errors.map(({ path, message }) => `${path}: ${message}`).join('; ');
}

/** @throws InvalidEntryError for content that is empty or too long for a paste */
function assertContentSize(content: Buffer, maxBytes: number): void {
  if (content.length === 0) throw new InvalidEntryError('content: must not be empty');
  if (content.length > maxBytes) throw tooLarge(maxBytes);
}

function tooLarge(maxBytes: number): InvalidEntryError {
  return new InvalidEntryError(`content: must have at most ${maxBytes} bytes`);
}

/**
 * The slug in a line of an export is ignored: usually the exported paste still has it.
 * Whoever writes an entry with a slug expects the slug, which an import does not give. @throws
 * InvalidEntryError
 */
function assertNoSlug(entry: Pick<SentEntry, 'slug' | 'short_code'>): void {
  const { slug = null } = entry;
  if (slug === null || slug === '' || isExported(entry)) return;
  throw new InvalidEntryError('slug: an import gives no slugs; create this paste with POST /v1/pastes');
}

/** Whether an export has written the entry: nothing else gives it a short code. */
function isExported({ short_code: shortCode }: { readonly short_code?: unknown }): boolean {
  return shortCode !== undefined;
}

/** The validation errors in one line. */
function describeIssues(error: z.ZodError): string {
  return error.issues
    .flatMap((issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => `${key}: is not a known field`)
        : [issue.path.length === 0 ? issue.message : `${issue.path.join('.')}: ${issue.message}`],
    )
    .join('; ');
}

/** @param at what stands before the names of the fields in an error */
function contentOf({ content, content_base64: base64 }: ContentFields, at = ''): Buffer {
  if (content !== undefined && base64 !== undefined)
    throw new InvalidEntryError(`${at}content_base64: cannot be combined with content`);
  if (content !== undefined) return Buffer.from(content);
  if (base64 === undefined)
    throw new InvalidEntryError(`${at}content: is required unless content_base64 is given`);
  const decoded = Buffer.from(base64, 'base64');
  // Node skips characters that are no base64, so valid base64 is what encodes to the same text again.
  if (decoded.toString('base64') !== base64)
    throw new InvalidEntryError(`${at}content_base64: must be base64`);
  return decoded;
}

/** The expires_in with which the paste expires at `expiresAt`. undefined: not a time, or already past. */
function expiryOf(expiresAt: unknown, now: Date): number | 'never' | undefined {
  if (expiresAt === null) return 'never';
  const seconds =
    typeof expiresAt === 'string' ? Math.ceil((Date.parse(expiresAt) - now.getTime()) / 1000) : Number.NaN;
  if (!(seconds > 0)) return undefined;
  return Math.min(Math.max(seconds, MIN_EXPIRY_SECONDS), MAX_EXPIRY_SECONDS);
}
