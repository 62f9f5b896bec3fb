import { jsonPaste, textOptions } from '@pasteflow/pastes';

/** Only its owner could read a private paste. */
const visibility = textOptions.shape.visibility.refine(
  (value) => value !== 'private',
  'can be private only with a token; send the token of its owner',
);

/**
 * How a paste is validated: `json` as a JSON document, `text` its options as query parameters or form fields.
 */
export const ownedSchemas = { json: jsonPaste, text: textOptions };

/** The same for a paste without an owner. */
export const anonymousSchemas = {
  json: jsonPaste.extend({ visibility }),
  text: textOptions.extend({ visibility }),
};
