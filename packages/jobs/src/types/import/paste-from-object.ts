import { MAX_EXPIRY_SECONDS, MIN_EXPIRY_SECONDS } from '@pasteflow/domain';
import { jsonPaste, toOptions } from '@pasteflow/pastes';
import { z } from 'zod';
import { InvalidEntryError } from './import-errors.ts';
import type { EntryPaste } from './input.ts';
import type { EntryDefaults } from './parameters.ts';

/** A paste as POST takes it, or as an NDJSON export writes it: what only the export knows is taken and passed over. */
const entrySchema = jsonPaste.extend({
  content: jsonPaste.shape.content.optional(),
  content_base64: z.string('must be a text').optional(),
  expires_at: z.iso.datetime({ offset: true, error: 'must be a time of RFC 3339, or null' }).nullish(),
  short_code: z.unknown().optional(),
  created_at: z.unknown().optional(),
  content_hash: z.unknown().optional(),
  size_bytes: z.unknown().optional(),
});

/**
 * The paste that a JSON object describes. An entry's expires_at, as exports have it, holds unless it has passed or expires_in is said, here
 * or for all: an export that is imported again loses nobody a paste early. @throws InvalidEntryError
 */
export function pasteFromObject(
  object: Readonly<Record<string, unknown>>,
  { defaults, maxBytes, now }: { defaults: EntryDefaults; maxBytes: number; now: Date },
): EntryPaste {
  const said = { ...object };
  if (said.visibility === undefined) said.visibility = defaults.visibility;
  if (said.expires_in === undefined)
    said.expires_in = defaults.expires_in ?? expiryOf(object.expires_at, now);
  const parsed = entrySchema.safeParse(said);
  if (!parsed.success) throw new InvalidEntryError(describeIssues(parsed.error));
  const { title, syntax, expires_in: expiresIn, visibility } = parsed.data;
  const content = contentOf(parsed.data);
  assertContentSize(content, maxBytes);
  return { ...toOptions({ title, syntax, expires_in: expiresIn, visibility }), content };
}

/** @throws InvalidEntryError for content that is empty or too long for a paste */
export function assertContentSize(content: Buffer, maxBytes: number): void {
  if (content.length === 0) throw new InvalidEntryError('content: must not be empty');
  if (content.length > maxBytes) throw tooLarge(maxBytes);
}

export function tooLarge(maxBytes: number): InvalidEntryError {
  return new InvalidEntryError(`content: must have at most ${maxBytes} bytes`);
}

/** What is wrong, in one line. */
export function describeIssues(error: z.ZodError): string {
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
    throw new InvalidEntryError('content_base64: must not be beside content');
  if (content !== undefined) return Buffer.from(content);
  if (base64 === undefined) throw new InvalidEntryError('content: must be there, unless content_base64 is');
  const decoded = Buffer.from(base64, 'base64');
  // Node passes over what is no base64; only what encodes back to the same was all of it.
  if (decoded.toString('base64') !== base64) throw new InvalidEntryError('content_base64: must be base64');
  return decoded;
}

/** What expires_in must be for the paste to expire then; undefined: it says nothing that can be kept. */
function expiryOf(expiresAt: unknown, now: Date): number | 'never' | undefined {
  if (expiresAt === null) return 'never';
  const seconds =
    typeof expiresAt === 'string' ? Math.ceil((Date.parse(expiresAt) - now.getTime()) / 1000) : Number.NaN;
  if (!(seconds > 0)) return undefined;
  return Math.min(Math.max(seconds, MIN_EXPIRY_SECONDS), MAX_EXPIRY_SECONDS);
}
