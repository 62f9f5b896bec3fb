import { hash } from 'node:crypto';
import {
  contentOptionNames,
  DEFAULT_EXPIRY_SECONDS,
  defaultOf,
  DURATION,
  isShortCode,
  languageNamed,
  languages,
  MAX_EXPIRY_SECONDS,
  MAX_SYNTAX_CHARACTERS,
  MIN_EXPIRY_SECONDS,
  nearestLanguage,
  MAX_FILE_NAME_BYTES,
  MAX_FILES,
  optionNames,
  optionNamesInOneValue,
  optionOf,
  pasteOptions,
  secondsOf,
  SLUG,
  SLUG_RULE,
  storedOptionNames,
  visibilities,
  type ChosenOptions,
  type OptionInOneValue,
  type PasteOption,
  type StoredOption,
  type StoredOptions,
} from '@pasteflow/domain';
import { z } from 'zod';
import { parseSealedText, SealedFormatError } from '@pasteflow/sealed';

/** The message for a field that has a closed list of values, worded the same everywhere. */
export function mustBeOneOf(values: readonly string[]): string {
  return `must be one of ${values.join(', ')}`;
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

const EXPIRY_RULE = `must be whole seconds from ${MIN_EXPIRY_SECONDS} to ${MAX_EXPIRY_SECONDS}, a time such as "10m", "12h" or "7d", or "never"`;
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

/** The output is the text that the client has sent, also with white space around it: so the text is bounded. */
const language = z
  .string('must be a text')
  .refine((text) => text === '' || isLanguage(text), {
    error: ({ input }) => unknownLanguage(String(input)),
  })
  .meta({ maxLength: MAX_SYNTAX_CHARACTERS });

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

const shortCode = z
  .string('must be a text')
  .refine((text) => text === '' || isShortCode(text), 'must be a short code, such as q7Zk2Lm9Xa');

const slug = z.string('must be a text').regex(new RegExp(`^(${SLUG})?$`), SLUG_RULE);

const yesOrNo = z.boolean('must be true or false').default(false);
/** For queries and forms. */
const yesOrNoAsText = z.preprocess(
  (value) => (value === 'true' ? true : value === 'false' ? false : value),
  yesOrNo,
);

/** The field of an option as clients send it: in JSON, or in a query or a form, where all values are texts. */
function fieldOf(
  option: Exclude<PasteOption, { readonly kind: 'files' }>,
  sentAs: 'json' | 'text',
): z.ZodType {
  const meta = { description: option.description, param: { example: option.example } };
  /** An empty text, as forms send it for an empty field, counts as no value. */
  const orNull = (text: z.ZodString) =>
    (sentAs === 'json' ? text.nullish() : text.optional()).transform((value) => value || null).meta(meta);
  switch (option.kind) {
    case 'line':
      return orNull(line(option.maxCharacters));
    case 'language':
      return orNull(language);
    case 'slug':
      return orNull(slug);
    case 'short_code':
      return orNull(shortCode);
    case 'choice':
      return z.enum(option.values, mustBeOneOf(option.values)).default(option.default).meta(meta);
    case 'flag':
      return (sentAs === 'json' ? yesOrNo : yesOrNoAsText).meta(meta);
    case 'expiry':
      return expiresInField
        .optional()
        .transform((value) => (value === 'never' ? null : value))
        .meta(meta);
    default:
      return option satisfies never;
  }
}

/** What clients send. `expires_in` null: the paste never expires; undefined: nothing is said of it. */
type SentFields = Pick<StoredOptions, StoredOption & OptionInOneValue> & {
  readonly expires_in: number | null | undefined;
};

function fieldsAs(sentAs: 'json' | 'text') {
  const fields = optionNamesInOneValue.map((name) => [name, fieldOf(pasteOptions[name], sentAs)]);
  return Object.fromEntries(fields) as { readonly [Name in OptionInOneValue]: z.ZodType<SentFields[Name]> };
}

const contentText = z
  .string('must be a text')
  .refine((text) => text.isWellFormed(), 'must be well-formed Unicode, without lone surrogates');

/** Of a file; empty or null: none was chosen. */
export const fileSyntax = language.nullish().transform((value) => value || null);

const noObject = (issue: { readonly code?: string }): string | undefined =>
  issue.code === 'invalid_type' ? 'must be a JSON object' : undefined;

export const jsonFile = z.strictObject(
  {
    /** Its rules, which need the other names, are those of `toFiles`. */
    name: z.string('must be a text').meta({ minLength: 1, maxLength: MAX_FILE_NAME_BYTES }),
    content: contentText.meta({ description: 'May be empty, unless all files are.' }),
    syntax: fileSyntax,
  },
  { error: noObject },
);

/** A paste as JSON, with `content` or `files`. The caller checks the size, and that one of them is there. */
export const jsonPaste = z.strictObject(
  {
    content: contentText.optional().meta({ minLength: 1 }), // documented only: empty content has an error code of its own, and is checked for all body formats in one place
    ...fieldsAs('json'),
    files: z
      .array(jsonFile, 'must be a list of files')
      .min(1, 'must have at least one file')
      .max(MAX_FILES, `must have at most ${MAX_FILES} files`)
      .optional()
      .meta({ description: pasteOptions.files.description }),
  },
  { error: noObject },
);

/** The options as query parameters or form fields. */
export const textOptions = z.strictObject(fieldsAs('text'));

/** What can be changed of a paste, as JSON or as texts; a field that is left out stays. An empty text counts as no value. */
export const changeFields = {
  title: emptied(line(pasteOptions.title.maxCharacters)),
  syntax: emptied(language),
  visibility: visibilityField.optional(),
  expires_in: expiresInField.optional(),
};

function emptied(text: z.ZodString) {
  return text
    .nullable()
    .transform((value) => value || null)
    .optional();
}

/** What a client has chosen of a new paste. The house decides how long one is kept of which nothing was said. */
export type SentOptions = Omit<ChosenOptions, 'expiresInSeconds'> & {
  readonly expiresInSeconds: number | null | undefined;
};

/** @param sent without the options that the sender can't choose: they have their defaults */
export function toOptions(sent: Partial<StoredOptions> & Pick<SentFields, 'expires_in'>): SentOptions {
  const chosen: Record<string, unknown> = {};
  for (const name of optionNames) {
    if (name === 'expires_in') chosen['expiresInSeconds'] = sent.expires_in;
    else if (optionOf(name).isAlwaysWritten === true || isChosen(sent, name))
      chosen[name] = sent[name] ?? defaultOf(name);
  }
  return chosen as SentOptions;
}

/**
 * The options as the fingerprint of a request with an Idempotency-Key has them. In 0.1.0 it had 30 days where nothing
 * was said, and it has them in every house: a request is known again when the house has changed its default.
 */
export function inFingerprint<Options extends SentOptions>(options: Options): Options {
  const { expiresInSeconds = DEFAULT_EXPIRY_SECONDS } = options;
  return { ...options, expiresInSeconds };
}

/** Whether an option has another value than its default. */
function isChosen(options: Partial<StoredOptions>, name: StoredOption): boolean {
  return (options[name] ?? defaultOf(name)) !== defaultOf(name);
}

/** A field of a new paste that breaks a rule. */
export interface PasteFieldError {
  readonly path: string;
  readonly message: string;
}

/**
 * The rules of a new encrypted paste. What tells of its content belongs into the ciphertext: as a field, the
 * server would know it. The content must be a document that its readers can take apart; whether it can be
 * decrypted, only they find out.
 */
export function encryptionErrors({
  content,
  ...options
}: SentOptions & { readonly content: Buffer }): readonly PasteFieldError[] {
  if (options.encrypted !== true) return [];
  const message = 'must be empty for an encrypted paste, because the server could read it';
  const readable = contentOptionNames.filter((name) => isChosen(options, name));
  return [...readable.map((path) => ({ path, message })), ...formatErrors(content, options.burn === true)];
}

/**
 * The rules of a new paste without an owner: only its owner could read a private one, and without owners
 * anybody could take all good names.
 */
export function ownerErrors(options: SentOptions): readonly PasteFieldError[] {
  return storedOptionNames.flatMap((path) => {
    const { needsOwner: message } = optionOf(path);
    return message !== undefined && isChosen(options, path) ? [{ path, message }] : [];
  });
}

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

/** `sha256:` and 64 hex digits. */
export function contentHashOf(content: Buffer): string {
  return `sha256:${hash('sha256', content)}`; // 3 µs for 2 KB; createHash takes 9 µs
}
