import { visibilities } from './limits.ts';
import type { PasteFile } from './paste-files.ts';

/** What is said of an option of a paste. */
export type PasteOption = Kind & {
  /** What the API says of the option to the creator of a paste. */
  readonly description: string;
  /** What anybody can send, together with the other examples. */
  readonly example: string | number | boolean | null;
  /** What the API says of the option to a reader. Default: its name alone. */
  readonly shownAs?: string;
  /**
   * The fingerprint of a request with an Idempotency-Key has it also with its default, as it had in 0.1.0. A
   * new option is left out then, so that a request that is repeated after the upgrade has its old fingerprint.
   */
  readonly isAlwaysWritten?: true;
  /** It tells of the content: it is emptied with the content, and an encrypted paste can't have it. */
  readonly tellsOfContent?: true;
  /** A paste that is made from this one begins with the same value. */
  readonly isCopied?: true;
  /** Default: a line of an export has it. */
  readonly isExported?: false;
  /** Default: an entry of an import may have it. */
  readonly isImported?: false;
  /** The error for an anonymous creator who sends another value than the default. Default: it is allowed. */
  readonly needsOwner?: string;
  /** Where the form has its control: `more` is below "More options". Default: nowhere. */
  readonly control?: 'beside' | 'more';
};

/** The values of an option. All but `flag` and `choice` can be null, which is their default. */
type Kind =
  /** A text of one line. */
  | { readonly kind: 'line'; readonly maxCharacters: number }
  /** A name of one of `languages`. */
  | { readonly kind: 'language' }
  | { readonly kind: 'slug' }
  | { readonly kind: 'short_code' }
  | { readonly kind: 'choice'; readonly values: readonly string[]; readonly default: string }
  /** Default: false. */
  | { readonly kind: 'flag' }
  /** Seconds from now; null: never. */
  | { readonly kind: 'expiry' }
  /** The files that the content consists of. A query can't have it, and clients send it with the contents. */
  | { readonly kind: 'files' };

/**
 * What a paste has besides its content, each option once: the insert, the views, the forms, import and export
 * and the OpenAPI document come from this list. A new option comes last, because fingerprints have this
 * order.
 */
export const pasteOptions = {
  title: {
    kind: 'line',
    maxCharacters: 200,
    description: 'One line of text.',
    example: 'Greeting',
    isAlwaysWritten: true,
    tellsOfContent: true,
    isCopied: true,
    control: 'beside',
  },
  syntax: {
    kind: 'language',
    description:
      'The language of the content: its name, such as python, or an extension of its files, such as py. Empty: none.',
    example: 'text',
    isAlwaysWritten: true,
    tellsOfContent: true,
    isCopied: true,
    control: 'beside',
  },
  expires_in: {
    kind: 'expiry',
    description:
      'From now: whole seconds, a time such as 10m, 12h, 7d or 4w, or never. Without it, the service decides.',
    example: 3600,
    isAlwaysWritten: true,
    control: 'beside',
  },
  visibility: {
    kind: 'choice',
    values: visibilities,
    default: 'unlisted',
    description:
      'unlisted: readable by anyone who has the short code. private: readable by its owner only. members: readable by anyone who has the short code and is signed in or sends a token.',
    example: 'unlisted',
    shownAs:
      'private: only the owner can read the paste. members: only those who are signed in or send a token can.',
    isAlwaysWritten: true,
    needsOwner: 'can be private, or for members, only with a token; send the token of its owner',
    control: 'beside',
  },
  encrypted: {
    kind: 'flag',
    description:
      'true: the content is a document of ciphertext in the format v2 of PrivateBin. The paste can have no title and no syntax.',
    example: false,
    shownAs: 'Whether the content is a document of ciphertext. Such a paste has no title and no syntax.',
  },
  burn: {
    kind: 'flag',
    description:
      'true: the paste is deleted when it is read. GET does not read it; `POST /{short_code}` does, once.',
    example: true,
    shownAs: 'true: the paste is deleted when it is read.',
    isExported: false, // an export reads no such paste
    control: 'more',
  },
  slug: {
    kind: 'slug',
    description:
      'A name, such as release-notes: the paste is reached at `/~release-notes` as well. Needs a token. Empty: none.',
    example: '', // a name needs a token, and the page of the API can send the examples twice
    shownAs: 'The name that the owner has chosen; null: none.',
    isImported: false,
    needsOwner: 'can be chosen only with a token; send the token of the owner',
    control: 'more',
  },
  parent: {
    kind: 'short_code',
    description:
      'The short code of the paste that this one is made from, which the creator must be able to read now. Whoever reads the new paste sees this code.',
    example: 'q7Zk2Lm9Xa',
    shownAs:
      'The short code of the paste that this one was made from; null: none. That paste may be gone, or readable by its owner only.',
    isExported: false,
    isImported: false,
  },
  supersedes: {
    kind: 'short_code',
    description:
      'The short code of a stored paste of which this one is the newer version, and so its parent. Needs a token of its owner or, for an anonymous paste, its delete_token in `Delete-Token`. The title, the syntax, the visibility and the time that is left, at least 60 seconds, are those of the older paste unless you send them. When this paste is stored, its code is shown to the readers of the older one, and the slug of the older one moves to it.',
    example: '', // a paste can be superseded once, and the page of the API can send the examples twice
    shownAs: 'The short code of the paste of which this one is the newer version; null: none.',
    isExported: false,
    isImported: false,
  },
  files: {
    kind: 'files',
    description:
      'Up to 100 files instead of one content. A file has a name, a relative path such as src/main.ts, its content, and a syntax if you choose one. The paste has their contents one after the other, as one sequence of bytes. One file is a paste with that title.',
    example: null,
    shownAs:
      'The files of the paste, in order; null: the paste is one content without files. Each is a range of the content: `offset` and `size` are in bytes.',
    tellsOfContent: true,
    isExported: false,
    isImported: false,
  },
} as const satisfies Readonly<Record<string, PasteOption>>;

type Options = typeof pasteOptions;
export type OptionName = keyof Options;

/** The names of the options that are like this. */
export type OptionsWith<Like> = {
  [Name in OptionName]: Options[Name] extends Like ? Name : never;
}[OptionName];

/**
 * The options with a column of the same name. The column of `expires_in` is `expires_at`, by the clock of
 * Postgres.
 */
export type StoredOption = Exclude<OptionName, OptionsWith<{ readonly kind: 'expiry' }>>;

/** The value of each option of a stored paste. */
export type StoredOptions = {
  readonly [Name in StoredOption]: Options[Name] extends { readonly kind: 'flag' }
    ? boolean
    : Options[Name] extends { readonly kind: 'choice'; readonly values: readonly (infer Value)[] }
      ? Value
      : Options[Name] extends { readonly kind: 'files' }
        ? readonly PasteFile[] | null
        : string | null;
};

/**
 * What was chosen for a new paste. An option with its default may be left out, as long as it is not always
 * written; for a fingerprint it must be.
 */
export type ChosenOptions = Partial<StoredOptions> &
  Pick<StoredOptions, StoredOption & OptionsWith<{ readonly isAlwaysWritten: true }>> & {
    /** null: the paste never expires. */
    readonly expiresInSeconds: number | null;
  };

export const optionNames = Object.keys(pasteOptions) as readonly OptionName[];
/** What one value says: a query, a control of a form or a flag of a command line. */
export type OptionInOneValue = Exclude<OptionName, OptionsWith<{ readonly kind: 'files' }>>;
export const optionNamesInOneValue = optionNames.filter(
  (name): name is OptionInOneValue => optionOf(name).kind !== 'files',
);
export const storedOptionNames = optionNames.filter((name): name is StoredOption => name !== 'expires_in');
export const exportedOptionNames = storedOptionNames.filter((name) => optionOf(name).isExported !== false);
export const contentOptionNames = storedOptionNames.filter((name) => optionOf(name).tellsOfContent === true);
export type CopiedOption = OptionsWith<{ readonly isCopied: true }>;
export const copiedOptionNames = storedOptionNames.filter(
  (name): name is CopiedOption => optionOf(name).isCopied === true,
);

export function optionOf(name: OptionName): PasteOption {
  return pasteOptions[name];
}

/** What an option is that nobody has chosen; for `expires_in`, nobody asks. */
export function defaultOf(name: StoredOption): string | boolean | null {
  const option = optionOf(name);
  switch (option.kind) {
    case 'flag':
      return false;
    case 'choice':
      return option.default;
    default:
      return null;
  }
}

/** The values of some options, from a row or from what was chosen, and nothing else of it. */
export function valuesOf<Name extends StoredOption>(
  names: readonly Name[],
  paste: { readonly [Each in NoInfer<Name>]?: StoredOptions[Each] | undefined },
): Pick<StoredOptions, Name> {
  const values: { [Each in StoredOption]?: unknown } = {};
  for (const name of names) values[name] = paste[name] ?? defaultOf(name);
  return values as Pick<StoredOptions, Name>;
}
