import { parseArgs } from 'node:util';

export type TokenCommand =
  | {
      readonly kind: 'make';
      readonly userName: string;
      readonly tokenName: string;
      /** Null: never. */
      readonly expiresInSeconds: number | null;
      /** A file that keeps the token: while the one in it is good, it is the one that is printed. */
      readonly keepIn: string | null;
    }
  | { readonly kind: 'list'; readonly userName: string; readonly json: boolean }
  | { readonly kind: 'revoke'; readonly id: string }
  | { readonly kind: 'help' }
  | { readonly kind: 'misused'; readonly message: string };

export const usage = `Usage:
  npm run token -- NAME [--token-name LABEL] [--expires-in 90d]
      prints a new API token of the user NAME, who is made when there is none
  npm run token -- --list NAME [--json]
      lists the user's tokens
  npm run token -- --revoke ID
      revokes a token; --list shows its id

  --token-name LABEL   what the list calls the token; "cli" unless told
  --expires-in TIME    90d, 12h, 30m or 3600 (seconds), at most 10 years; never unless told
  --keep-in FILE       print the token in FILE while it is good; else make one and write it there

The token alone goes to stdout: TOKEN=$(npm run --silent token -- NAME)
It needs DATABASE_URL, or \`npm start\` or \`npm run stack\` running in another terminal.
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

export function parseTokenCommand(args: readonly string[]): TokenCommand {
  let parsed;
  try {
    parsed = parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    return misused((error as Error).message.split(/\.\s/)[0] ?? '');
  }
  const { values, positionals } = parsed;
  const given = Object.keys(values) as OptionName[];
  /** The first that doesn't go with the command. */
  const stray = (...known: OptionName[]): string | undefined =>
    positionals[known[0] === 'token-name' ? 1 : 0] ?? given.find((name) => !known.includes(name));

  if (values.help === true) return { kind: 'help' };
  if (values.list !== undefined) {
    const extra = stray('list', 'json');
    if (extra !== undefined) return misused(`${quoted(extra)} doesn't go with --list`);
    return named(values.list) ?? { kind: 'list', userName: values.list, json: values.json === true };
  }
  if (values.revoke !== undefined) {
    const extra = stray('revoke');
    if (extra !== undefined) return misused(`${quoted(extra)} doesn't go with --revoke`);
    return isUuid(values.revoke)
      ? { kind: 'revoke', id: values.revoke.toLowerCase() }
      : misused('--revoke takes the id of a token, which --list NAME shows');
  }
  const extra = stray('token-name', 'expires-in', 'keep-in');
  if (extra !== undefined) return misused(`${quoted(extra)} doesn't go with NAME`);
  const [userName] = positionals;
  if (userName === undefined) return misused('NAME is missing: whose token is it to be?');
  const { 'token-name': tokenName = 'cli', 'expires-in': expiresIn, 'keep-in': keepIn = null } = values;
  const expiresInSeconds = expiresIn === undefined ? null : secondsOf(expiresIn);
  if (expiresInSeconds === undefined)
    return misused(`--expires-in ${quoted(expiresIn ?? '')} is not understood: say 90d, 12h, 30m or seconds`);
  return (
    named(userName) ?? named(tokenName) ?? { kind: 'make', userName, tokenName, expiresInSeconds, keepIn }
  );
}

function misused(message: string): TokenCommand {
  return { kind: 'misused', message };
}

/** What is wrong with the name of a user or a token; null: nothing. Names are printed, so they hold nothing that moves a terminal. */
function named(name: string): TokenCommand | null {
  if (/^\P{Cc}{1,1000}$/u.test(name) && name.isWellFormed() && name.trim() !== '') return null;
  return misused(`${quoted(name)} is no name: give one line of text`);
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3600, d: 86_400 };
const MOST_SECONDS = 10 * 365 * 86_400;

/** @returns undefined for what isn't understood */
function secondsOf(text: string): number | undefined {
  const [, digits = '', unit = ''] = /^(\d{1,10})([smhd]?)$/.exec(text) ?? [];
  const seconds = Number(digits) * (UNIT_SECONDS[unit] ?? NaN);
  return seconds >= 1 && seconds <= MOST_SECONDS ? seconds : undefined;
}

function isUuid(text: string): boolean {
  return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text);
}

/** Short, and without a token: somebody may have given one where an id is wanted. */
function quoted(text: string): string {
  return JSON.stringify(text.replaceAll(/pf_[\w-]+/g, 'pf_…').slice(0, 100));
}
