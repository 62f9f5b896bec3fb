import {
  optionOf,
  pasteDeletion,
  pasteUpload,
  SLUG_MARK,
  statesOf,
  storedOptionNames,
  valuesOf,
  type StoredOption,
  type StoredOptions,
} from '@pasteflow/domain';
import type { CreatedPaste, NewPaste, PublicPaste } from '@pasteflow/postgres';
import { z } from 'zod';
import { instant } from '../http/openapi/formats.ts';
import { type Audience, reasonClass, reasonText, viewOfReason } from '../live/timeline-view.ts';
import { example } from './example.ts';

const fileSchema = z
  .object({
    name: z.string().meta({ description: 'A relative path.' }),
    offset: z.int().nonnegative(),
    size: z.int().nonnegative(),
    syntax: z.string().nullable(),
  })
  .meta({ id: 'PasteFile', description: 'A range of the content of a paste.' });

function viewOfOption(name: StoredOption): z.ZodType {
  const option = optionOf(name);
  const value =
    option.kind === 'flag'
      ? z.boolean()
      : option.kind === 'choice'
        ? z.enum(option.values)
        : option.kind === 'files'
          ? z.array(fileSchema).nullable()
          : z.string().nullable();
  return option.shownAs === undefined ? value : value.meta({ description: option.shownAs });
}

const { slug, visibility, ...shownOptions } = Object.fromEntries(
  storedOptionNames.map((name) => [name, viewOfOption(name)]),
) as { readonly [Name in StoredOption]: z.ZodType<StoredOptions[Name]> };

/** A paste as clients see it. */
export const pasteSchema = z
  .object({
    short_code: z.string().meta({ description: 'Base62.' }),
    slug,
    version: z.int().nullable().meta({
      description:
        'The number among the pastes that a slug has named; null: no slug was moved from or to this paste.',
    }),
    url: z.url().meta({ description: 'The short URL of the content; with the slug, if the paste has one.' }),
    content_url: z.url(),
    status: z.enum(statesOf(pasteUpload)).meta({ description: 'The state of the upload.' }),
    deletion_status: z.enum(statesOf(pasteDeletion)),
    visibility,
    ...shownOptions,
    superseded_by: z.string().nullable().meta({
      description:
        'The short code of the newest version that you can read, which superseded this paste or one that did; null: none.',
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
    read_at: instant.nullable().meta({
      description:
        'When a paste that is deleted when it is read was fetched. Only the list of its owner has such a paste, until its row is removed. null: it was not.',
    }),
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

/** @param supersededBy see `newestVersionOf` */
export function viewOf(
  paste: Omit<PublicPaste, 'superseded_by'>,
  publicUrl: string,
  audience: Audience,
  supersededBy: string | null,
): PasteView {
  const { slug, visibility, ...options } = valuesOf(storedOptionNames, paste);
  const why = viewOfReason(paste.failure_reason, audience);
  return {
    short_code: paste.short_code,
    slug,
    version: paste.version,
    url: urlOf(paste, publicUrl),
    content_url: `${publicUrl}/v1/pastes/${paste.short_code}/content`,
    status: paste.status,
    deletion_status: paste.deletion_status,
    visibility,
    ...options,
    superseded_by: supersededBy,
    content_hash: paste.burn ? null : paste.content_hash,
    held_at: paste.held_at?.toISOString() ?? null,
    size_bytes: paste.size_bytes,
    created_at: paste.created_at.toISOString(),
    expires_at: paste.expires_at?.toISOString() ?? null,
    processed_at: paste.processed_at?.toISOString() ?? null,
    read_at: paste.burned_at?.toISOString() ?? null,
    failure_class: why.class,
    failure_reason: why.text,
  };
}

/** The short URL of a paste. */
export function urlOf(
  { short_code: shortCode, slug }: Pick<PublicPaste, 'short_code' | 'slug'>,
  publicUrl: string,
): string {
  return `${publicUrl}/${slug === null ? shortCode : SLUG_MARK + slug}`;
}

/** A paste that was just inserted. */
export function viewOfNew(
  paste: Omit<NewPaste, 'userId' | 'deleteTokenHash' | 'expiresInSeconds' | 'content'> &
    Pick<CreatedPaste, 'createdAt' | 'expiresAt'> & { readonly sizeBytes: number },
  publicUrl: string,
): PasteView {
  const row: Omit<PublicPaste, 'superseded_by'> = {
    ...valuesOf(storedOptionNames, paste),
    short_code: paste.shortCode,
    status: 'IN_PROGRESS',
    deletion_status: 'NOT_EXPIRED',
    version: null,
    content_hash: paste.contentHash,
    size_bytes: paste.sizeBytes,
    created_at: paste.createdAt,
    expires_at: paste.expiresAt,
    processed_at: null,
    failure_reason: null,
    held_at: null,
    burned_at: null,
  };
  return viewOf(row, publicUrl, 'stranger', null); // it has no reason to hide
}

function examplePaste(): object {
  const paste = {
    shortCode: example.shortCode,
    visibility: 'unlisted' as const,
    title: example.title,
    syntax: example.syntax,
    contentHash: example.contentHash,
    sizeBytes: Buffer.byteLength(example.content),
    createdAt: new Date('2026-11-21T12:00:00Z'),
    expiresAt: new Date('2026-11-21T13:00:00Z'),
  };
  return viewOfNew(paste, 'https://paste.example.org');
}
