import { pasteDeletion, pasteUpload, SLUG_MARK, statesOf, visibilities } from '@pasteflow/domain';
import type { CreatedPaste, NewPaste, PublicPaste } from '@pasteflow/postgres';
import { z } from 'zod';
import { instant } from '../http/openapi/formats.ts';
import { type Audience, reasonClass, reasonText, viewOfReason } from '../live/timeline-view.ts';
import { example } from './example.ts';

/** A paste as clients see it. */
export const pasteSchema = z
  .object({
    short_code: z.string().meta({ description: 'Base62.' }),
    slug: z.string().nullable().meta({ description: 'The name that the owner has chosen; null: none.' }),
    version: z.int().nullable().meta({
      description:
        'The number among the pastes that a slug has named; null: no slug was moved from or to this paste.',
    }),
    url: z.url().meta({ description: 'The short URL of the content; with the slug, if the paste has one.' }),
    content_url: z.url(),
    status: z.enum(statesOf(pasteUpload)).meta({ description: 'The state of the upload.' }),
    deletion_status: z.enum(statesOf(pasteDeletion)),
    visibility: z.enum(visibilities).meta({ description: 'private: only the owner can read the paste.' }),
    title: z.string().nullable(),
    syntax: z.string().nullable(),
    encrypted: z.boolean().meta({
      description:
        'Whether the content is a document of ciphertext. Such a paste has no title and no syntax.',
    }),
    burn: z.boolean().meta({ description: 'true: the paste is deleted when it is read.' }),
    parent: z.string().nullable().meta({
      description:
        'The short code of the paste that this one was made from; null: none. That paste may be gone, or readable by its owner only.',
    }),
    content_hash: z
      .string()
      .regex(/^sha256:[0-9a-f]{64}$/)
      .nullable()
      .meta({
        description:
          'null for a paste that is deleted when it is read, because the hash of a short secret tells the secret.',
      }),
    held_at: instant.nullable().meta({
      description:
        'Since when only you, the owner, can read the paste, because many have reported it; null: it is not held.',
    }),
    size_bytes: z.int().positive(),
    created_at: instant,
    expires_at: instant.nullable().meta({ description: 'null: the paste never expires.' }),
    processed_at: instant.nullable(),
    failure_class: reasonClass.meta({ description: 'Why the upload failed, in one word of a closed list.' }),
    failure_reason: reasonText.meta({
      description: 'Why the upload failed, in words. Only for the owner; null for all others.',
    }),
  })
  .meta({ id: 'Paste', description: 'A paste without its content.', examples: [examplePaste()] });

export type PasteView = Readonly<z.output<typeof pasteSchema>>;

export const createdPasteSchema = pasteSchema
  .extend({
    delete_token: z.string().optional().meta({
      description: 'Deletes an anonymous paste; only in this answer. A paste with an owner has none.',
    }),
  })
  .meta({
    id: 'CreatedPaste',
    description: 'A new paste.',
    examples: [{ ...examplePaste(), delete_token: example.deleteToken }],
  });

export type CreatedPasteView = Readonly<z.output<typeof createdPasteSchema>>;

export function viewOf(paste: PublicPaste, publicUrl: string, audience: Audience): PasteView {
  const why = viewOfReason(paste.failure_reason, audience);
  return {
    short_code: paste.short_code,
    slug: paste.slug,
    version: paste.version,
    url: urlOf(paste, publicUrl),
    content_url: `${publicUrl}/v1/pastes/${paste.short_code}/content`,
    status: paste.status,
    deletion_status: paste.deletion_status,
    visibility: paste.visibility,
    title: paste.title,
    syntax: paste.syntax,
    encrypted: paste.encrypted,
    burn: paste.burn,
    parent: paste.parent,
    content_hash: paste.burn ? null : paste.content_hash,
    held_at: paste.held_at?.toISOString() ?? null,
    size_bytes: paste.size_bytes,
    created_at: paste.created_at.toISOString(),
    expires_at: paste.expires_at?.toISOString() ?? null,
    processed_at: paste.processed_at?.toISOString() ?? null,
    failure_class: why.class,
    failure_reason: why.text,
  };
}

/** The short URL of a paste. */
function urlOf(
  { short_code: shortCode, slug }: Pick<PublicPaste, 'short_code' | 'slug'>,
  publicUrl: string,
): string {
  return `${publicUrl}/${slug === null ? shortCode : SLUG_MARK + slug}`;
}

/** A paste that was just inserted. */
export function viewOfNew(
  paste: Omit<NewPaste, 'userId' | 'deleteTokenHash' | 'expiresInSeconds'> &
    Pick<CreatedPaste, 'createdAt' | 'expiresAt'>,
  publicUrl: string,
): PasteView {
  const row: PublicPaste = {
    short_code: paste.shortCode,
    status: 'IN_PROGRESS',
    deletion_status: 'NOT_EXPIRED',
    slug: paste.slug ?? null,
    version: null,
    visibility: paste.visibility,
    title: paste.title,
    syntax: paste.syntax,
    encrypted: paste.encrypted ?? false,
    content_hash: paste.contentHash,
    size_bytes: paste.content.length,
    created_at: paste.createdAt,
    expires_at: paste.expiresAt,
    processed_at: null,
    failure_reason: null,
    burn: paste.burn ?? false,
    parent: paste.parent ?? null,
    held_at: null,
  };
  return viewOf(row, publicUrl, 'stranger'); // it has no reason to hide
}

function examplePaste(): object {
  const paste = {
    shortCode: example.shortCode,
    visibility: 'unlisted' as const,
    title: example.title,
    syntax: example.syntax,
    contentHash: example.contentHash,
    content: Buffer.from(example.content),
    createdAt: new Date('2026-11-21T12:00:00Z'),
    expiresAt: new Date('2026-11-21T13:00:00Z'),
  };
  return viewOfNew(paste, 'https://paste.example.org');
}
