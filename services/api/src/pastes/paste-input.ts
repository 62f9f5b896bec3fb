import {
  DEFAULT_EXPIRY_SECONDS,
  MAX_EXPIRY_SECONDS,
  MAX_SYNTAX_CHARACTERS,
  MAX_TITLE_CHARACTERS,
  MIN_EXPIRY_SECONDS,
} from '@pasteflow/domain';
import { z } from 'zod';
import { fieldErrors, validationFailed } from '../http/request-error.ts';

/** What describes a paste beside its content. `expiresInSeconds` null: never. */
export interface PasteOptions {
  readonly title: string | null;
  readonly syntax: string | null;
  readonly expiresInSeconds: number | null;
}

/**
 * One line of text. Postgres takes no NUL, UTF-8 no lone surrogate; an empty text, as forms send it, and null
 * count as none.
 */
function label(maxCharacters: number) {
  return z
    .string('must be a text')
    .refine((text) => text.isWellFormed(), 'must be well-formed Unicode, without lone surrogates')
    .refine((text) => !/\p{Cc}/u.test(text), 'must not have control characters')
    .refine(
      (text) => Array.from(text).length <= maxCharacters,
      `must have at most ${maxCharacters} characters`,
    )
    .nullish()
    .transform((text) => (text === undefined || text === '' ? null : text));
}

const EXPIRY_RULE = `must be whole seconds from ${MIN_EXPIRY_SECONDS} to ${MAX_EXPIRY_SECONDS}, or "never"`;
const expiresIn = z
  .union([z.literal('never'), z.number().refine(isExpiry, EXPIRY_RULE)], EXPIRY_RULE)
  .default(DEFAULT_EXPIRY_SECONDS)
  .transform((value) => (value === 'never' ? null : value));

function isExpiry(seconds: number): boolean {
  return Number.isInteger(seconds) && seconds >= MIN_EXPIRY_SECONDS && seconds <= MAX_EXPIRY_SECONDS;
}

/** In a query and a form everything is text. */
const expiresInAsText = z.preprocess(
  (value) => (typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value),
  expiresIn,
);

const described = { title: label(MAX_TITLE_CHARACTERS), syntax: label(MAX_SYNTAX_CHARACTERS) };

const jsonPaste = z.strictObject(
  {
    ...described,
    expires_in: expiresIn,
    content: z
      .string('must be a text')
      .refine((text) => text.isWellFormed(), 'must be well-formed Unicode, without lone surrogates'),
  },
  { error: (issue) => (issue.code === 'invalid_type' ? 'must be a JSON object' : undefined) },
);

const textOptions = z.strictObject({ ...described, expires_in: expiresInAsText });
const noOptions = z.strictObject({});

/** @throws RequestError validation_failed */
export function parseJsonPaste(value: unknown): { readonly content: string; readonly options: PasteOptions } {
  const { content, ...options } = validate(jsonPaste, value);
  return { content, options: toOptions(options) };
}

/** The options as query parameters or form fields. @throws RequestError validation_failed */
export function parseTextOptions(fields: ReadonlyMap<string, string>): PasteOptions {
  return toOptions(validate(textOptions, Object.fromEntries(fields)));
}

/** For requests whose options aren't in the query. @throws RequestError validation_failed */
export function refuseParameters(query: ReadonlyMap<string, string>): void {
  validate(noOptions, Object.fromEntries(query));
}

function toOptions(parsed: z.output<typeof textOptions>): PasteOptions {
  return { title: parsed.title, syntax: parsed.syntax, expiresInSeconds: parsed.expires_in };
}

function validate<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (!result.success) throw validationFailed(fieldErrors(result.error));
  return result.data;
}
