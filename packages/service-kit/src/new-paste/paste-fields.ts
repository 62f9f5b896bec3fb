import {
  DEFAULT_EXPIRY_SECONDS,
  DURATION,
  isShortCode,
  languageNamed,
  languages,
  MAX_EXPIRY_SECONDS,
  MAX_SYNTAX_CHARACTERS,
  MAX_TITLE_CHARACTERS,
  MIN_EXPIRY_SECONDS,
  nearestLanguage,
  secondsOf,
  SLUG,
  SLUG_RULE,
  visibilities,
  type Visibility,
} from '@pasteflow/domain';
import { z } from 'zod';
import { parseSealedText, SealedFormatError } from '@pasteflow/sealed';

/** The message for a field that has a closed list of values, worded the same everywhere. */
export function mustBeOneOf(values: readonly string[]): string {
  return `must be one of ${values.join(', ')}`;
}

/**
 * The options of a paste: all fields but its content. With `expiresInSeconds` null the paste never expires.
 */
export interface PasteOptions {
  readonly title: string | null;
  readonly syntax: string | null;
  readonly expiresInSeconds: number | null;
  readonly visibility: Visibility;
  /** Set when the client has encrypted the content: see `encryptionErrors`. */
  readonly encrypted?: true;
  /** Set for a paste that is deleted when it is read. */
  readonly burn?: true;
  /** Set for a paste with a name. */
  readonly slug?: string;
  /** Set for a paste that is made from another one: its short code. */
  readonly parent?: string;
}

/**
 * No control characters: the Unicode category Cc, written as ranges. The pattern is in the OpenAPI
 * document, and many programs that read it know no `\p{…}`.
 */
// oxlint-disable-next-line no-control-regex
const ONE_LINE = /^[^\u0000-\u001f\u007f-\u009f]*$/;

/** One line of text. Postgres cannot store NUL, and UTF-8 cannot encode lone surrogates. */
function line(maxCharacters: number) {
  return z
    .string('must be a text')
    .refine((text) => text.isWellFormed(), 'must be well-formed Unicode, without lone surrogates')
    .regex(ONE_LINE, 'must not have control characters')
    .refine(
      // A character has one or two UTF-16 units. The first check avoids counting the characters of a text of
      // megabytes.
      (text) => text.length <= 2 * maxCharacters && Array.from(text).length <= maxCharacters,
      `must have at most ${maxCharacters} characters`,
    )
    .meta({ maxLength: maxCharacters }); // JSON Schema counts characters too; zod's max() counts UTF-16 units
}

/** An empty text, as forms send it for an empty field, counts as no value. */
function nullIfEmpty(text: string | null | undefined): string | null {
  return text === undefined || text === '' ? null : text;
}

const EXPIRY_RULE = `must be whole seconds from ${MIN_EXPIRY_SECONDS} to ${MAX_EXPIRY_SECONDS}, a time such as "10m", "12h" or "7d", or "never"`;
const expiresInMeta = {
  description: 'From now: whole seconds, a time such as 10m, 12h, 7d or 4w, or never.',
  param: { example: 3600 },
};
const expirySeconds = z
  .int({ error: EXPIRY_RULE, abort: true })
  .min(MIN_EXPIRY_SECONDS, EXPIRY_RULE)
  .max(MAX_EXPIRY_SECONDS, EXPIRY_RULE);
const EXPIRY_TEXT = new RegExp(`^never$|${DURATION.source}`);
/** The field as clients send it, in JSON or as text, without a default. Its output is an input, too. */
export const expiresInField = z.union(
  [
    expirySeconds,
    z
      .string()
      .regex(EXPIRY_TEXT, EXPIRY_RULE)
      .transform((text) => (text === 'never' ? text : secondsOf(text)))
      .pipe(z.union([z.literal('never'), expirySeconds], EXPIRY_RULE)),
  ],
  EXPIRY_RULE,
);
const expiresIn = expiresInField
  .default(DEFAULT_EXPIRY_SECONDS)
  .transform((value) => (value === 'never' ? null : value))
  .meta(expiresInMeta);

const title = line(MAX_TITLE_CHARACTERS);
const titleMeta = { description: 'One line of text.', param: { example: 'Greeting' } };
/** The output is the text that the client has sent, also with white space around it: so the text is bounded. */
const syntax = z
  .string('must be a text')
  .refine((text) => text === '' || isLanguage(text), {
    error: ({ input }) => unknownLanguage(String(input)),
  })
  .meta({ maxLength: MAX_SYNTAX_CHARACTERS });
const syntaxMeta = {
  description:
    'The language of the content: its name, such as python, or an extension of its files, such as py. Empty: none.',
  param: { example: 'text' },
};

function isLanguage(text: string): boolean {
  return text.length <= MAX_SYNTAX_CHARACTERS && ONE_LINE.test(text) && languageNamed(text) !== null;
}

function unknownLanguage(text: string): string {
  const nearest = nearestLanguage(text);
  return nearest === null
    ? `must be a language that this service knows: ${languages.map(({ id }) => id).join(', ')}`
    : `must be a language that this service knows: did you mean ${nearest}?`;
}

/** The field as clients send it, without a default. */
export const visibilityField = z.enum(visibilities, mustBeOneOf(visibilities));
const visibility = visibilityField.default('unlisted').meta({
  description: 'unlisted: readable by anyone who has the short code. private: readable by its owner only.',
  param: { example: 'unlisted' },
});

const encryptedMeta = {
  description:
    'true: the content is a document of ciphertext in the format v2 of PrivateBin. The paste can have no title and no syntax.',
  param: { example: false },
};
const burnMeta = {
  description:
    'true: the paste is deleted when it is read. GET does not read it; `POST /{short_code}` does, once.',
  param: { example: true },
};

const parent = z
  .string('must be a text')
  .refine((text) => text === '' || isShortCode(text), 'must be a short code, such as q7Zk2Lm9Xa');
const parentMeta = {
  description:
    'The short code of the paste that this one is made from, which the creator must be able to read now. Whoever reads the new paste sees this code.',
  param: { example: 'q7Zk2Lm9Xa' },
};

const yesOrNo = z.boolean('must be true or false').default(false);
/** For queries and forms. */
const yesOrNoAsText = z.preprocess(
  (value) => (value === 'true' ? true : value === 'false' ? false : value),
  yesOrNo,
);

/** A slug as clients send it; empty: none. */
const slug = z.string('must be a text').regex(new RegExp(`^(${SLUG})?$`), SLUG_RULE);
const slugMeta = {
  description:
    'A name, such as release-notes: the paste is reached at `/~release-notes` as well. Needs a token. Empty: none.',
  param: { example: '' }, // the page of this document can send the examples twice; with a name, the second request would get 409
};

/** A paste as JSON. The caller, who knows the limit, checks the size of `content`. */
export const jsonPaste = z.strictObject(
  {
    content: z
      .string('must be a text')
      .refine((text) => text.isWellFormed(), 'must be well-formed Unicode, without lone surrogates')
      .meta({ minLength: 1 }), // documented only: empty content has an error code of its own, and is checked for all body formats in one place
    title: title.nullish().transform(nullIfEmpty).meta(titleMeta),
    syntax: syntax.nullish().transform(nullIfEmpty).meta(syntaxMeta),
    expires_in: expiresIn,
    visibility,
    encrypted: yesOrNo.meta(encryptedMeta),
    burn: yesOrNo.meta(burnMeta),
    slug: slug.nullish().transform(nullIfEmpty).meta(slugMeta),
    parent: parent.nullish().transform(nullIfEmpty).meta(parentMeta),
  },
  { error: (issue) => (issue.code === 'invalid_type' ? 'must be a JSON object' : undefined) },
);

/** The options as query parameters or form fields. */
export const textOptions = z.strictObject({
  title: title.optional().transform(nullIfEmpty).meta(titleMeta),
  syntax: syntax.optional().transform(nullIfEmpty).meta(syntaxMeta),
  expires_in: expiresIn,
  visibility,
  encrypted: yesOrNoAsText.meta(encryptedMeta),
  burn: yesOrNoAsText.meta(burnMeta),
  slug: slug.optional().transform(nullIfEmpty).meta(slugMeta),
  parent: parent.optional().transform(nullIfEmpty).meta(parentMeta),
});

export function toOptions(
  parsed: Omit<z.output<typeof textOptions>, 'parent'> & { readonly parent?: string | null },
): PasteOptions {
  return {
    title: parsed.title,
    syntax: parsed.syntax,
    expiresInSeconds: parsed.expires_in,
    visibility: parsed.visibility,
    // Left out otherwise: the fingerprints of requests with an Idempotency-Key have the options, and stay
    // what they were.
    ...(parsed.encrypted && { encrypted: true }),
    ...(parsed.burn && { burn: true }),
    ...(parsed.slug !== null && { slug: parsed.slug }),
    ...(typeof parsed.parent === 'string' && { parent: parsed.parent }),
  };
}

/** A field of a new paste that breaks a rule. */
export interface PasteFieldError {
  readonly path: string;
  readonly message: string;
}

/**
 * The rules of a new encrypted paste. Its title and its language belong into the ciphertext: as fields, the
 * server would know them. The content must be a document that its readers can take apart; whether it can be
 * decrypted, only they find out.
 */
export function encryptionErrors({
  encrypted,
  title,
  syntax,
  burn,
  content,
}: Pick<PasteOptions, 'encrypted' | 'title' | 'syntax' | 'burn'> & {
  readonly content: Buffer;
}): readonly PasteFieldError[] {
  if (encrypted !== true) return [];
  return [
    ...(title === null ? [] : [{ path: 'title', message: READABLE }]),
    ...(syntax === null ? [] : [{ path: 'syntax', message: READABLE }]),
    ...formatErrors(content, burn === true),
  ];
}

const READABLE = 'must be empty for an encrypted paste, because the server could read it';

function formatErrors(content: Buffer, burn: boolean): readonly PasteFieldError[] {
  try {
    const document = parseSealedText(content.toString('latin1')); // it is ASCII, or it is refused
    const [, , discussion, burnsWhenRead] = document.adata;
    return [
      ...(discussion === 0
        ? []
        : [{ path: 'content.adata.2', message: 'must be 0: this service has no discussions' }]),
      ...(burnsWhenRead === 0 || burn
        ? []
        : [{ path: 'burn', message: 'must be true, because content.adata.3 promises that to the reader' }]),
    ];
  } catch (error) {
    if (!(error instanceof SealedFormatError)) throw error;
    const { path, rule } = error;
    return [{ path: path === '' ? 'content' : `content.${path}`, message: rule }];
  }
}

/**
 * Whether somebody may know of a paste. For everybody else a private paste is not found.
 * @param userId null: an anonymous caller
 */
export function canRead(
  paste: { readonly visibility: Visibility; readonly user_id: string | null },
  userId: string | null,
): boolean {
  return paste.visibility !== 'private' || paste.user_id === userId;
}

/**
 * Whether reports hold a paste from somebody, which they do from everybody but its owner.
 * @param userId null: an anonymous caller
 */
export function isHeldFrom(
  paste: { readonly held_at: Date | null; readonly user_id: string | null },
  userId: string | null,
): boolean {
  return paste.held_at !== null && (userId === null || paste.user_id !== userId);
}
