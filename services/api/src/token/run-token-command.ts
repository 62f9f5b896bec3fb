import { DependencyUnavailableError } from '@pasteflow/domain';
import { createDatabase, listApiTokens, revokeApiToken, type Database } from '@pasteflow/postgres';
import { ConfigError, EXIT_CONFIG, StartError, type Environment } from '@pasteflow/runtime';
import { parseTokenCommand, usage, type TokenCommand } from './command-line.ts';
import { findDatabase, type FoundDatabase } from './find-database.ts';
import { instant, jsonOf, tableOf } from './list-tokens.ts';
import { makeToken } from './make-token.ts';

/** What goes where, and the exit code. */
export interface TokenAnswer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** sysexits.h: EX_USAGE. */
const EXIT_USAGE = 64;
const EXIT_FAILED = 1;

/** `npm run token`: on stdout nothing but what was asked for, the rest on stderr. */
export async function runTokenCommand(args: readonly string[], env: Environment): Promise<TokenAnswer> {
  const command = parseTokenCommand(args);
  if (command.kind === 'help') return { code: 0, stdout: usage, stderr: '' };
  if (command.kind === 'misused') return failed(EXIT_USAGE, `token: ${command.message}\n\n${usage}`);
  let found: FoundDatabase | undefined;
  try {
    found = findDatabase(env);
    return await withDatabase(found.url, (db) => act(db, command));
  } catch (error) {
    if (error instanceof ConfigError) return failed(EXIT_CONFIG, `token: ${error.problems.join('\n  ')}\n`);
    return failed(EXIT_FAILED, `token: ${inWords(error, found)}\n`);
  }
}

async function withDatabase<T>(url: string, run: (db: Database) => Promise<T>): Promise<T> {
  const db = createDatabase({
    url,
    applicationName: 'pasteflow-token',
    maxConnections: 1,
    onConnectionError: () => {}, // the statement that it breaks says it
  });
  try {
    return await run(db);
  } finally {
    await db.destroy();
  }
}

type Action = Exclude<TokenCommand, { kind: 'help' | 'misused' }>;

async function act(db: Database, command: Action): Promise<TokenAnswer> {
  switch (command.kind) {
    case 'make': {
      const { token, made } = await makeToken(db, command);
      const about =
        made === null
          ? `The API token of the user ${command.userName} in ${command.keepIn}.`
          : `A new API token of the user ${command.userName}, shown this once; its id is ${made.id}, and it expires ${instant(made.expiresAt)}.`;
      return { code: 0, stdout: `${token}\n`, stderr: `${about}\nUse it as: Authorization: Bearer TOKEN\n` };
    }
    case 'list': {
      const tokens = await listApiTokens(db, command.userName);
      if (tokens === null) return failed(EXIT_FAILED, `token: there is no user ${command.userName}\n`);
      if (command.json) return { code: 0, stdout: jsonOf(tokens), stderr: '' };
      if (tokens.length === 0) return { code: 0, stdout: '', stderr: `${command.userName} has no tokens.\n` };
      return { code: 0, stdout: tableOf(tokens), stderr: '' };
    }
    case 'revoke': {
      const did = await revokeApiToken(db, command.id);
      if (did === null) {
        return failed(EXIT_FAILED, `token: there is no token ${command.id}; --list NAME shows the ids\n`);
      }
      const about = did === 'revoked' ? 'is revoked: from now on it opens nothing' : 'was revoked before';
      return { code: 0, stdout: '', stderr: `The token ${command.id} ${about}.\n` };
    }
    default:
      return command satisfies never;
  }
}

function failed(code: number, stderr: string): TokenAnswer {
  return { code, stdout: '', stderr };
}

/** SQLSTATE undefined_table. */
const NO_TABLE = '42P01';

function inWords(error: unknown, found: FoundDatabase | undefined): string {
  if (error instanceof StartError) return error.message;
  if (!Error.isError(error)) return String(error);
  if ((error as { code?: string }).code === NO_TABLE)
    return 'the database has no table of tokens: run `npm run migrate` first (`npm start` does it by itself)';
  if (error instanceof DependencyUnavailableError) {
    const where = found === undefined ? '' : ` at ${URL.parse(found.url)?.host ?? ''}`;
    const { message = '', code = '' } = (error.cause ?? {}) as { message?: string; code?: string };
    const hint =
      found === undefined || found.file === null
        ? 'check DATABASE_URL'
        : `${found.file} names it: is \`npm start\` still running?`;
    return `Postgres${where} does not answer (${message || code}): ${hint}`;
  }
  return error.message;
}
