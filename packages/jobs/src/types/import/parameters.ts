import { isShortCode } from '@pasteflow/domain';
import { expiresInField, visibilityField } from '@pasteflow/pastes';
import { z } from 'zod';

/** More go into an NDJSON paste or an archive. */
const MAX_ITEMS = 1000;

const items = z
  .array(z.record(z.string(), z.unknown(), 'must be a JSON object'), 'must be a list of JSON objects')
  .min(1, 'must have at least one item')
  .max(MAX_ITEMS, `must have at most ${MAX_ITEMS} items`)
  .meta({
    description:
      'Each as in POST /v1/pastes, or with content_base64 in place of content, for any bytes. One that breaks a rule of pastes ends the job partial.',
  });

const sourceShortCode = z.string('must be a text').refine(isShortCode, 'must be a short code').meta({
  description:
    'A paste that is NDJSON (a line an item), a tar, a tar.gz or a zip (a file a paste, its name the title); told apart by its bytes.',
});

/** What an import is made of. Each attempt reads what is stored once more: it outputs what it takes. */
export const importParameters = z
  .strictObject(
    {
      items: items.optional(),
      source_short_code: sourceShortCode.optional(),
      visibility: visibilityField.optional().meta({
        description: 'Beside source_short_code: of its entries that do not say it themselves.',
      }),
      expires_in: expiresInField.optional().meta({
        description: 'Beside source_short_code: of its entries that do not say it themselves.',
      }),
    },
    { error: (issue) => (issue.code === 'invalid_type' ? 'must be a JSON object' : undefined) },
  )
  .superRefine(({ items: given, source_short_code: source, visibility, expires_in: expiresIn }, context) => {
    const refuse = (path: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [path], message });
    if (given === undefined && source === undefined)
      refuse('items', 'must be there, unless source_short_code is');
    if (given === undefined) return;
    if (source !== undefined) refuse('source_short_code', 'must not be beside items');
    if (visibility !== undefined) refuse('visibility', 'must be in each of the items');
    if (expiresIn !== undefined) refuse('expires_in', 'must be in each of the items');
  });

export type ImportParameters = z.output<typeof importParameters>;

/** What holds for entries that don't say it themselves. */
export type EntryDefaults = Pick<ImportParameters, 'visibility' | 'expires_in'>;
