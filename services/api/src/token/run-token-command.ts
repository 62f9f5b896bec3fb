import {
  type Answer,
  EXIT_FAILED,
  failed,
  runCommandLine,
  succeeded,
  withDatabase,
} from '@pasteflow/service-kit';
import { listApiTokens, revokeApiToken, type Database } from '@pasteflow/postgres';
import type { Environment } from '@pasteflow/runtime';
import { parseTokenCommand, usage, type MakeToken, type TokenCommand } from './command-line.ts';
import { explainDatabaseError } from './explain-database-error.ts';
import { timeOrNever, tokensAsJson, tokensAsTable } from './list-tokens.ts';
import { makeToken } from './make-token.ts';

/** `npm run token`. */
export function runTokenCommand(args: readonly string[], env: Environment): Promise<Answer> {
  return runCommandLine({ name: 'token', usage, parse: parseTokenCommand, run: runInDatabase }, args, env);
}

async function runInDatabase(command: TokenCommand, env: Environment): Promise<Answer> {
  try {
    return await withDatabase('token', env, (db) => run(db, command));
  } catch (error) {
    throw explainDatabaseError(error, env);
  }
}

function run(db: Database, command: TokenCommand): Promise<Answer> {
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

async function make(db: Database, command: MakeToken): Promise<Answer> {
  const { token, made } = await makeToken(db, command);
  const { userName, keepIn } = command;
  const about =
    made === null
      ? `The API token of the user ${userName} from ${keepIn}.`
      : `A new API token of the user ${userName}. It is not shown again. Its id is ${made.id}; it expires: ${timeOrNever(made.expiresAt)}.`;
  return succeeded(`${token}\n`, `${about}\nUse it as: Authorization: Bearer TOKEN\n`);
}

async function list(db: Database, userName: string, json: boolean): Promise<Answer> {
  const tokens = await listApiTokens(db, userName);
  if (tokens === null) return failed(EXIT_FAILED, `token: there is no user ${userName}\n`);
  if (json) return succeeded(tokensAsJson(tokens));
  if (tokens.length === 0) return succeeded('', `${userName} has no tokens.\n`);
  return succeeded(tokensAsTable(tokens));
}

async function revoke(db: Database, id: string): Promise<Answer> {
  const outcome = await revokeApiToken(db, id);
  if (outcome === null)
    return failed(EXIT_FAILED, `token: there is no token ${id}; --list NAME shows the ids\n`);
  const about = outcome === 'revoked' ? 'is revoked: the api refuses it from now on' : 'was revoked before';
  return succeeded('', `The token ${id} ${about}.\n`);
}
