/**
 * A slug as a regular expression: 3 to 64 characters. A hyphen is neither the first nor the last one: command
 * lines take a word with a leading hyphen for an option, and programs that make links of texts leave a
 * trailing one out.
 */
export const SLUG = '[a-z0-9][a-z0-9-]{1,62}[a-z0-9]';

/** The rule in words. */
export const SLUG_RULE =
  "must have 3 to 64 characters, each of them a lower-case letter from a to z, a digit or a hyphen; the first and the last one can't be a hyphen";

/** A name in a URL or a command is a slug when it begins with this character. No short code has it. */
export const SLUG_MARK = '~';

const WHOLE_SLUG = new RegExp(`^${SLUG}$`);

export function isSlug(text: string): boolean {
  return WHOLE_SLUG.test(text);
}
