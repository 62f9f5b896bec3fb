import type { NewPasteFields } from '@pasteflow/client';
import { contentOptionNames, type OptionInOneValue, visibilities, type Visibility } from '@pasteflow/domain';
import { Option } from 'commander';
import { UsageError } from '../errors.ts';
import { expiryOf, pasteNamedBy, syntaxOf } from './named.ts';

interface PasteFlag {
  /** As commander reads it. */
  readonly flags: string;
  readonly description: string;
  /** The field that is sent; an option without a value is `true`. Default: what was given. */
  readonly fieldOf?: (given: string, server: string) => string | number;
}

/**
 * How a command line names each option of a paste. `--encrypt` is more than an option of the paste, and the readers have
 * `readerFlags`.
 */
export const pasteFlags: Readonly<Record<Exclude<OptionInOneValue, 'encrypted' | 'visibility'>, PasteFlag>> =
  {
    title: {
      flags: '-t, --title <title>',
      description: 'the title; otherwise the name of the only file',
    },
    syntax: {
      flags: '-s, --syntax <language>',
      description: 'the language of each file; otherwise its name or its first line tells',
      fieldOf: syntaxOf,
    },
    expires_in: {
      flags: '-e, --expires <time>',
      description: 'when it expires: 30m, 12h, 7d or never',
      fieldOf: expiryOf,
    },
    burn: { flags: '--burn', description: 'the paste is deleted when it is read' },
    slug: {
      flags: '--slug <name>',
      description: 'a name for the URL: 3 to 64 lower-case letters, digits and hyphens',
    },
    parent: { flags: '--parent <paste>', description: 'the paste it is made from', fieldOf: pasteNamedBy },
    supersedes: { flags: '--supersedes <paste>', description: 'its older version', fieldOf: pasteNamedBy },
  };

/** Who can read a paste: a flag for each. */
export const readerFlags: Readonly<Record<Visibility, string>> = {
  unlisted: 'everybody who has the link can read it',
  members: 'only people who are signed in, or send a token, can read it',
  private: 'only you can read it',
};

export type ReaderOptions = { readonly [Name in Visibility]?: boolean };

/** @returns undefined: no flag is given @throws UsageError for more than one */
export function visibilityOf(options: ReaderOptions): Visibility | undefined {
  const [given, another] = visibilities.filter((name) => options[name] === true);
  if (another !== undefined)
    throw new UsageError(`--${given} and --${another} contradict each other. Choose one.`);
  return given;
}

/**
 * The fields of a new paste, from the options as commander names them.
 * @param encrypt whether the server must not learn what tells of the content
 * @throws UsageError
 */
export function fieldsOf(
  options: object,
  { server, encrypt }: { readonly server: string; readonly encrypt: boolean },
): NewPasteFields {
  const given = options as Readonly<Record<string, string | undefined>>;
  const kept: readonly string[] = encrypt ? contentOptionNames : [];
  const fields = Object.entries(pasteFlags).flatMap(([name, { flags, fieldOf }]) => {
    const value = given[new Option(flags).attributeName()];
    if (value === undefined || kept.includes(name)) return [];
    return [[name, fieldOf === undefined ? value : fieldOf(value, server)]];
  });
  const visibility = visibilityOf(options);
  return {
    ...(encrypt && { encrypted: true }),
    ...(visibility !== undefined && { visibility }),
    ...(Object.fromEntries(fields) as NewPasteFields),
  };
}
