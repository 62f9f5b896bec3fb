import { DependencyUnavailableError, isVisibleName } from '@pasteflow/domain';
import {
  type ApiToken,
  createApiToken,
  type Database,
  isGoodApiToken,
  listApiTokens,
  revokeApiToken,
} from '@pasteflow/postgres';
import { type Environment, StartError } from '@pasteflow/runtime';
import {
  type CommandResult,
  asJson,
  EXIT_FAILED,
  EXIT_USAGE,
  failed,
  formatSecond,
  formatTable,
  runCommandLine,
  succeeded,
  withDatabase,
} from '@pasteflow/service-kit';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { hashOfSecret, isApiToken, newApiToken } from '../http/callers/secret.ts';
import { type MakeToken, parseTokenCommand, type TokenCommand, usage } from './command-line.ts';

/** `npm run token`. */
export function runTokenCommand(args: readonly string[], env: Environment): Promise<CommandResult> {
  return runCommandLine({ name: 'token', usage, parse: parseTokenCommand, run: runInDatabase }, args, env);
}

async function runInDatabase(command: TokenCommand, env: Environment): Promise<CommandResult> {
  try {
    return await withDatabase('token', env, (db) => run(db, command));
  } catch (error) {
    throw explainDatabaseError(error, env);
  }
}

function run(db: Database, command: TokenCommand): Promise<CommandResult> {
  switch (command.kind) {
    case 'make':
      return make(db, command);
    case 'list':
      return list(db, command.userName, command.json);
    case 'revoke':
      return revoke(db, command.id);
    default:
      return command satisfies never;
  }
}

async function make(db: Database, command: MakeToken): Promise<CommandResult> {
  if (!isVisibleName(command.userName) && (await listApiTokens(db, command.userName)) === null)
    return failed(EXIT_USAGE, `token: a new user's name must have no invisible characters\n`);
  const { token, made } = await makeToken(db, command);
  const { userName, keepIn } = command;
  const about =
    made === null
      ? `The API token of the user ${userName} from ${keepIn}.`
      : `A new API token of the user ${userName}. It is not shown again. Its id is ${made.id}; it expires: ${timeOrNever(made.expiresAt)}.`;
  return succeeded(`${token}\n`, `${about}\nUse it as: Authorization: Bearer TOKEN\n`);
}

async function list(db: Database, userName: string, json: boolean): Promise<CommandResult> {
  const tokens = await listApiTokens(db, userName);
  if (tokens === null) return failed(EXIT_FAILED, `token: there is no user ${userName}\n`);
  if (json) return succeeded(tokensAsJson(tokens));
  if (tokens.length === 0) return succeeded('', `${userName} has no tokens.\n`);
  return succeeded(tokensAsTable(tokens));
}

async function revoke(db: Database, id: string): Promise<CommandResult> {
  const outcome = await revokeApiToken(db, id);
  if (outcome === null)
    return failed(EXIT_FAILED, `token: there is no token ${id}; --list NAME shows the ids\n`);
  const about = outcome === 'revoked' ? 'is revoked: the api refuses it from now on' : 'was revoked before';
  return succeeded('', `The token ${id} ${about}.\n`);
}

interface MadeToken {
  readonly token: string;
  /** Null: the token is the kept one. */
  readonly made: { readonly id: string; readonly expiresAt: Date | null } | null;
}

/**
 * Makes a token. With `keepIn`, returns the token in that file instead while it is a good one of this user.
 */
async function makeToken(db: Database, { keepIn, ...requested }: MakeToken): Promise<MadeToken> {
  const kept = keepIn === null ? null : readKeptToken(keepIn);
  if (keepIn !== null && kept !== null && (await isGood(db, kept, requested.userName))) {
    writeKeptToken(keepIn, kept); // restores the file mode, which a copy of the folder may have widened
    return { token: kept, made: null };
  }
  const token = newApiToken();
  const made = await createApiToken(db, {
    userName: requested.userName,
    name: requested.tokenName,
    tokenHash: hashOfSecret(token),
    expiresInSeconds: requested.expiresInSeconds,
  });
  try {
    if (keepIn !== null) writeKeptToken(keepIn, token);
  } catch (error) {
    await revokeApiToken(db, made.id); // a token that was not printed can never be used
    throw error;
  }
  return { token, made };
}

async function isGood(db: Database, token: string, userName: string): Promise<boolean> {
  return isApiToken(token) && (await isGoodApiToken(db, { tokenHash: hashOfSecret(token), userName }));
}

function tokensAsTable(tokens: readonly ApiToken[]): string {
  return formatTable(
    ['ID', 'NAME', 'SCOPE', 'CREATED', 'LAST USED', 'EXPIRES', 'STATE'],
    tokens.map(({ id, name, scope, createdAt, lastUsedAt, expiresAt, state }) => [
      id,
      name,
      scope,
      formatSecond(createdAt),
      timeOrNever(lastUsedAt),
      timeOrNever(expiresAt),
      state,
    ]),
  );
}

function tokensAsJson(tokens: readonly ApiToken[]): string {
  return asJson(
    tokens.map(({ id, name, scope, source, createdAt, lastUsedAt, expiresAt, revokedAt, state }) => ({
      id,
      name,
      scope,
      made_by: source,
      created_at: createdAt,
      last_used_at: lastUsedAt,
      expires_at: expiresAt,
      revoked_at: revokedAt,
      state,
    })),
  );
}

function timeOrNever(time: Date | null): string {
  return time === null ? 'never' : formatSecond(time);
}

/** @returns null when there is no such file. @throws StartError when the file can't be read */
function readKeptToken(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw unusable(file, error);
  }
}

/** Replaces the file atomically, readable by its owner alone. The folder must exist. @throws StartError */
function writeKeptToken(file: string, token: string): void {
  const temporary = `${file}.${process.pid}`;
  try {
    writeFileSync(temporary, `${token}\n`, { mode: 0o600 });
    renameSync(temporary, file);
  } catch (error) {
    throw unusable(file, error);
  }
}

function unusable(file: string, cause: unknown): StartError {
  return new StartError(`${file} can't be used to keep a token (${(cause as Error).message})`, { cause });
}

/** SQLSTATE undefined_table. */
const NO_TABLE = '42P01';

/**
 * An error of the command's only connection, with what to do about it. Other errors are returned as they are.
 */
function explainDatabaseError(error: unknown, env: Environment): unknown {
  if (!Error.isError(error)) return error;
  if ((error as { code?: string }).code === NO_TABLE)
    return new Error('The database has no table of tokens: run the migration first.', { cause: error });
  if (!(error instanceof DependencyUnavailableError)) return error;
  const host = URL.parse(env.DATABASE_URL ?? '')?.host ?? '';
  const at = host === '' ? '' : ` at ${host}`; // a socket has none
  const { message = '', code = '' } = (error.cause ?? {}) as { message?: string; code?: string };
  return new Error(`Postgres${at} does not answer (${message || code}): check DATABASE_URL`, {
    cause: error,
  });
}
