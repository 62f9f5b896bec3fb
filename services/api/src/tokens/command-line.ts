import { commandName, type Help, type Misused, misused, parseArguments, quote } from '@pasteflow/service-kit';
import { isUuid, isVisibleName, secondsOf } from '@pasteflow/domain';

export interface MakeToken {
  readonly kind: 'make';
  readonly userName: string;
  readonly tokenName: string;
  /** Null: never. */
  readonly expiresInSeconds: number | null;
  /** A file that keeps the token. While the token in it is good, no new one is made. */
  readonly keepIn: string | null;
}

export type TokenCommand =
  | MakeToken
  | { readonly kind: 'list'; readonly userName: string; readonly json: boolean }
  | { readonly kind: 'revoke'; readonly id: string };

const token = commandName('token');

export const usage = `Usage:
  ${token} NAME [--token-name LABEL] [--expires-in 90d]
      prints a new API token of the user NAME; a user that does not exist is created
  ${token} --list NAME [--json]
      lists the user's tokens
  ${token} --revoke ID
      revokes a token; --list shows its id

  --token-name LABEL   the name of the token in the list (default: cli)
  --expires-in TIME    90d, 12h, 30m, 4w or 3600 (seconds), at most 10 years (default: never)
  --keep-in FILE       prints the token in FILE while it is good; otherwise makes one and writes it there

Only the token goes to stdout; npm itself is silent with --silent.
DATABASE_URL names the database.
`;

const options = {
  'token-name': { type: 'string' },
  'expires-in': { type: 'string' },
  'keep-in': { type: 'string' },
  list: { type: 'string' },
  json: { type: 'boolean' },
  revoke: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

type OptionName = keyof typeof options;

export function parseTokenCommand(args: readonly string[]): TokenCommand | Help | Misused {
  const parsed = parseArguments(args, options);
  if (parsed.kind === 'misused') return parsed;
  const { values, positionals } = parsed;
  const given = Object.keys(values) as OptionName[];
  const firstUnexpected = (names: number, ...allowed: OptionName[]): string | undefined =>
    positionals[names] ?? given.find((option) => !allowed.includes(option));

  if (values.help === true) return { kind: 'help' };
  if (values.list !== undefined) {
    const unexpected = firstUnexpected(0, 'list', 'json');
    if (unexpected !== undefined) return misused(`${quote(unexpected)} can't be combined with --list`);
    return refuseName(values.list) ?? { kind: 'list', userName: values.list, json: values.json === true };
  }
  if (values.revoke !== undefined) {
    const unexpected = firstUnexpected(0, 'revoke');
    if (unexpected !== undefined) return misused(`${quote(unexpected)} can't be combined with --revoke`);
    const id = values.revoke.toLowerCase();
    return isUuid(id)
      ? { kind: 'revoke', id }
      : misused('--revoke takes the id of a token; --list NAME shows the ids');
  }
  const unexpected = firstUnexpected(1, 'token-name', 'expires-in', 'keep-in');
  if (unexpected !== undefined) return misused(`${quote(unexpected)} can't be combined with NAME`);
  return parseMake(positionals[0], values);
}

function parseMake(
  userName: string | undefined,
  values: Partial<Readonly<Record<'token-name' | 'expires-in' | 'keep-in', string>>>,
): MakeToken | Misused {
  if (userName === undefined) return misused('NAME is missing: give the name of the user');
  const { 'token-name': tokenName = 'cli', 'expires-in': expiresIn, 'keep-in': keepIn = null } = values;
  const expiresInSeconds = expiresIn === undefined ? null : parseSeconds(expiresIn);
  if (expiresInSeconds === undefined)
    return misused(`--expires-in ${quote(expiresIn ?? '')} is not a time: use 90d, 12h, 30m or seconds`);
  const wrong = refuseName(userName) ?? refuseName(tokenName, isVisibleName);
  return wrong ?? { kind: 'make', userName, tokenName, expiresInSeconds, keepIn };
}

/** @param isGood default: any, because a user of an earlier release may have any name; see `make` */
function refuseName(name: string, isGood: (name: string) => boolean = () => true): Misused | null {
  if (
    /^\P{Cc}*$/u.test(name) &&
    name.isWellFormed() &&
    isGood(name) &&
    name.length <= 1000 &&
    name.trim() !== ''
  )
    return null;
  return misused(
    `${quote(name)} is not a name: give one line of text without invisible characters, up to 1000 characters`,
  );
}

const MAX_SECONDS = 10 * 365 * 86_400;

/** @returns undefined when the text is not a time from 1 s to 10 years */
function parseSeconds(text: string): number | undefined {
  const seconds = secondsOf(text) ?? 0;
  return seconds >= 1 && seconds <= MAX_SECONDS ? seconds : undefined;
}
