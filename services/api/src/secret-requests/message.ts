import { MAX_REQUEST_MESSAGE_CHARACTERS, visibleLine } from '@pasteflow/domain';
import { z } from 'zod';

/** `https://`, also with another scheme, `mailto:`, and `https:example.org`, which browsers take for a link. Browsers read `\` as `/`. */
const SCHEME = /:[/\\]{2}|\b(?:https?|mailto):\S/i;
const WWW = /\bwww\d?\./i;
/** `example.org/path`, `example.org:8443` and `192.0.2.1/path`; not `config.json`, and not `Is it v1.2?` */
const HOST = /[\p{L}\p{N}-]\.[\p{L}\p{N}-]{1,63}\.?(?:[/\\]|[?#]\S|:\d)/u;
const MAIL = /[^\s@]@[\p{L}\p{N}-]{1,63}\.[\p{L}\p{N}]/u;
const LINKS = [SCHEME, WWW, HOST, MAIL];

/**
 * Whether a message has what a program would make a link of, or a person would copy into the address bar. Compatible
 * forms of characters count as well: browsers read `。` as a dot.
 */
function hasLink(message: string): boolean {
  const plain = message.normalize('NFKC').replaceAll('。', '.');
  return LINKS.some((link) => link.test(plain));
}

const TOO_LONG = `must have at most ${MAX_REQUEST_MESSAGE_CHARACTERS} characters`;

/** What is asked for. A stranger reads it beside the name of this service, and must not be led elsewhere by it. */
export const messageField = z
  .string('must be a text')
  .refine((text) => text.isWellFormed(), 'must be well-formed Unicode, without lone surrogates')
  .refine((text) => text.length <= 10 * MAX_REQUEST_MESSAGE_CHARACTERS, TOO_LONG)
  .transform(visibleLine)
  .refine((text) => Array.from(text).length <= MAX_REQUEST_MESSAGE_CHARACTERS, TOO_LONG)
  .refine((text) => !hasLink(text), 'must have no links and no addresses')
  .meta({ maxLength: MAX_REQUEST_MESSAGE_CHARACTERS });
