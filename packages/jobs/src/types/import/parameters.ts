import { type House, isShortCode } from '@pasteflow/domain';
import { expiresInField, houseErrors, type PasteFieldError, visibilityField } from '@pasteflow/service-kit';
import { z } from 'zod';

/** For more items a client uses an NDJSON paste or an archive. */
const MAX_ITEMS = 1000;

const items = z
  .array(z.record(z.string(), z.unknown(), 'must be a JSON object'), 'must be a list of JSON objects')
  .min(1, 'must have at least one item')
  .max(MAX_ITEMS, `must have at most ${MAX_ITEMS} items`)
  .meta({
    description:
      'Each item as in POST /v1/pastes, but without a slug, or with content_base64 instead of content for arbitrary bytes. With an invalid item the job ends as partial.',
  });

const sourceShortCode = z.string('must be a text').refine(isShortCode, 'must be a short code').meta({
  description:
    'The short code of a paste that is NDJSON (one item on each line), a tar, a tar.gz or a zip (one paste for each file, titled with its path, and for each folder that an export has made of several files). The format is detected from the content.',
});

/**
 * The parameters of an import. Each attempt parses the stored output again, so parsing an output must return
 * the same output.
 */
export const importParameters = z
  .strictObject(
    {
      items: items.optional(),
      source_short_code: sourceShortCode.optional(),
      as_one_paste: z.boolean('must be true or false').optional().meta({
        description:
          'With source_short_code of an archive: one paste of all its files, at most 100, instead of one paste for each.',
      }),
      visibility: visibilityField.optional().meta({
        description: 'With source_short_code: for entries without a value of their own.',
      }),
      expires_in: expiresInField.optional().meta({
        description: 'With source_short_code: for entries without a value of their own.',
      }),
    },
    { error: (issue) => (issue.code === 'invalid_type' ? 'must be a JSON object' : undefined) },
  )
  .superRefine((parameters, context) => {
    const { items: given, source_short_code: source, visibility, expires_in: expiresIn } = parameters;
    const refuse = (path: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [path], message });
    if (given === undefined && source === undefined)
      refuse('items', 'is required unless source_short_code is given');
    if (given === undefined) return;
    if (source !== undefined) refuse('source_short_code', 'cannot be combined with items');
    if (parameters.as_one_paste !== undefined) refuse('as_one_paste', 'cannot be combined with items');
    if (visibility !== undefined) refuse('visibility', 'must be set in each item instead');
    if (expiresIn !== undefined) refuse('expires_in', 'must be set in each item instead');
  });

export type ImportParameters = z.output<typeof importParameters>;

/** The rules of the house that the parameters break. Those of entries are asked when these are read. */
export function importErrors(house: House, parameters: object): readonly PasteFieldError[] {
  const { expires_in: expires } = parameters as Pick<ImportParameters, 'expires_in'>;
  return houseErrors(house, { expiresInSeconds: expires === 'never' ? null : expires, sizeBytes: 0 }, false);
}

/** Values for entries that have none of their own. */
export type EntryDefaults = Pick<ImportParameters, 'visibility' | 'expires_in'>;
