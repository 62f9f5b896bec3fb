import {
  languageNamed,
  MAX_EXPIRY_SECONDS,
  MIN_EXPIRY_SECONDS,
  optionNames,
  optionOf,
  pasteOptions,
  type OptionsWith,
} from '@pasteflow/domain';
import { encryptionErrors, jsonPaste, toOptions } from '@pasteflow/service-kit';
import { z } from 'zod';
import { type EntryPaste, InvalidEntryError } from './input.ts';
import type { EntryDefaults } from './parameters.ts';
import type { ArchiveFile } from './archive-rules.ts';

const { maxCharacters } = pasteOptions.title;

/** The options that no entry has. */
const notImported = Object.fromEntries(
  optionNames.filter((name) => optionOf(name).isImported === false).map((name) => [name, true]),
) as Record<OptionsWith<{ readonly isImported: false }>, true>;

const options = jsonPaste.omit({ content: true, ...notImported });

/** Creates the paste of a file in an archive. @throws InvalidEntryError */
export function pasteFromFile(
  { name, content }: ArchiveFile,
  { defaults, maxBytes }: { defaults: EntryDefaults; maxBytes: number },
): EntryPaste {
  if (content === null) throw tooLarge(maxBytes);
  const parsed = options.safeParse({ ...defaults, title: titleOf(name) });
  if (!parsed.success) throw new InvalidEntryError(describeIssues(parsed.error));
  assertContentSize(content, maxBytes);
  return { ...toOptions(parsed.data), content };
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
const entrySchema = jsonPaste.omit(notImported).extend({
  content: jsonPaste.shape.content.optional(),
  content_base64: z.string('must be a text').optional(),
  expires_at: z.iso.datetime({ offset: true, error: 'must be an RFC 3339 time, or null' }).nullish(),
  short_code: z.unknown().optional(),
  slug: z.unknown().optional(),
  created_at: z.unknown().optional(),
  content_hash: z.unknown().optional(),
  size_bytes: z.unknown().optional(),
});

/**
 * Creates the paste of a JSON object. An entry's expires_at, which exports contain, applies unless it has
 * passed or expires_in is given for the entry or for all entries. So pastes that are exported and imported
 * again keep their expiry. @throws InvalidEntryError
 */
export function pasteFromObject(
  object: Readonly<Record<string, unknown>>,
  { defaults, maxBytes, now }: { defaults: EntryDefaults; maxBytes: number; now: Date },
): EntryPaste {
  const fields = { ...object };
  if (fields.visibility === undefined) fields.visibility = defaults.visibility;
  if (fields.expires_in === undefined)
    fields.expires_in = defaults.expires_in ?? expiryOf(object.expires_at, now);
  if (isExported(object) && languageNamed(String(object.syntax)) === null) fields.syntax = null; // of an earlier release
  const parsed = entrySchema.safeParse(fields);
  if (!parsed.success) throw new InvalidEntryError(describeIssues(parsed.error));
  const content = contentOf(parsed.data);
  assertContentSize(content, maxBytes);
  assertNoSlug(parsed.data);
  const paste = { ...toOptions({ ...parsed.data, slug: null }), content };
  const errors = encryptionErrors(paste);
  if (errors.length > 0)
    throw new InvalidEntryError(errors.map(({ path, message }) => `${path}: ${message}`).join('; '));
  return paste;
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
function assertNoSlug(entry: z.output<typeof entrySchema>): void {
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

function contentOf({ content, content_base64: base64 }: z.output<typeof entrySchema>): Buffer {
  if (content !== undefined && base64 !== undefined)
    throw new InvalidEntryError('content_base64: cannot be combined with content');
  if (content !== undefined) return Buffer.from(content);
  if (base64 === undefined)
    throw new InvalidEntryError('content: is required unless content_base64 is given');
  const decoded = Buffer.from(base64, 'base64');
  // Node skips characters that are no base64, so valid base64 is what encodes to the same text again.
  if (decoded.toString('base64') !== base64) throw new InvalidEntryError('content_base64: must be base64');
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
