import { jsonPaste, textOptions } from '@pasteflow/pastes';

/** Only its owner could read a private paste. */
const visibility = textOptions.shape.visibility.refine(
  (value) => value !== 'private',
  'can be private only with a token; send the token of its owner',
);

/** Only an owner can have a slug: anybody could take all good names otherwise. */
const NEEDS_TOKEN = 'can be chosen only with a token; send the token of the owner';
const isNone = (slug: string | null): boolean => slug === null;

/**
 * How a paste is validated: `json` as a JSON document, `text` its options as query parameters or form fields.
 */
export const ownedSchemas = { json: jsonPaste, text: textOptions };

/** The same for a paste without an owner. */
export const anonymousSchemas = {
  json: jsonPaste.extend({ visibility, slug: jsonPaste.shape.slug.refine(isNone, NEEDS_TOKEN) }),
  text: textOptions.extend({ visibility, slug: textOptions.shape.slug.refine(isNone, NEEDS_TOKEN) }),
};
