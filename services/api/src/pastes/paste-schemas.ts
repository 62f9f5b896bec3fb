import { jsonPaste, textOptions } from '@pasteflow/service-kit';
import { z } from 'zod';
import { IDEMPOTENCY_KEY } from '../idempotency/idempotency-key.ts';

/** Only its owner could read a private paste. */
const visibility = textOptions.shape.visibility.refine(
  (value) => value !== 'private',
  'can be private only with a token; send the token of its owner',
);

/** Only an owner can have a slug: anybody could take all good names otherwise. */
const NEEDS_TOKEN = 'can be chosen only with a token; send the token of the owner';
const isNone = (slug: string | null): boolean => slug === null;

/** A browser without JavaScript sends no header of its own. */
export const formKey = z
  .string()
  .regex(IDEMPOTENCY_KEY, 'must have 1 to 255 printable ASCII characters')
  .optional()
  .meta({
    description:
      'For pages, in place of an Idempotency-Key, which takes precedence: the same form with the same key and fields gets the first answer again. With other fields it is another request.',
    examples: ['8f1d4c3a-6b0e-4f5a-9c2d-7e1b3a5d9f00'],
  });

/**
 * How a paste is validated: `json` as a JSON document, `text` its options as query parameters, `form` as the fields of a form.
 */
export const ownedSchemas = {
  json: jsonPaste,
  text: textOptions,
  form: textOptions.extend({ form_key: formKey }),
};

/** The same for a paste without an owner. */
const anonymousText = textOptions.extend({
  visibility,
  slug: textOptions.shape.slug.refine(isNone, NEEDS_TOKEN),
});
export const anonymousSchemas = {
  json: jsonPaste.extend({ visibility, slug: jsonPaste.shape.slug.refine(isNone, NEEDS_TOKEN) }),
  text: anonymousText,
  form: anonymousText.extend({ form_key: formKey }),
};
