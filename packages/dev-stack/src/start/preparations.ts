import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { sourceCommand } from '../child-command.ts';
import { REPOSITORY, type Environment } from '../stack-config.ts';
import { StackError } from '../stack-error.ts';

/**
 * Runs the migrations as a process of its own, because dev-stack imports nothing of the workspace. Its output
 * goes to the terminal.
 */
export async function runMigrations(env: Environment): Promise<void> {
  const entry = join(REPOSITORY, 'packages/postgres/src/migrate-main.ts');
  const [command, ...args] = sourceCommand(entry, [], 'TERM');
  const child = spawn(command, args, { env, stdio: 'inherit', detached: true });
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  if (code !== 0)
    throw new StackError(
      'migrations-failed',
      `The migrations failed with ${signal ?? `code ${code}`}. Read their message above.`,
    );
}

/** The name of the token in the database. */
const TOKEN_NAME = 'npm start';

/**
 * Reads or creates the API token of the user `dev`. The token is stored in the data folder, so it stays the
 * same while it is valid. Runs as a process of its own, because dev-stack imports nothing of the workspace.
 * @returns null after printing the reason when no token could be created; Pasteflow runs without it
 */
export async function keepDevToken(env: Environment, dataDir: string): Promise<string | null> {
  mkdirSync(dataDir, { recursive: true }); // Without an embedded stack the folder may be missing.
  const entry = join(REPOSITORY, 'services/api/src/token-main.ts');
  const tokenArgs = ['dev', '--token-name', TOKEN_NAME, '--keep-in', join(dataDir, 'dev-token')];
  const [command, ...args] = sourceCommand(entry, tokenArgs, 'TERM');
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  if (code === 0) return stdout.trim();
  process.stderr.write(stderr);
  return null;
}
