import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { sourceCommand } from '../child-command.ts';
import { REPOSITORY, type Environment } from '../stack-config.ts';
import { StackError } from '../stack-error.ts';

/**
 * Runs an entry of a package or service as a process of its own, because dev-stack imports nothing of the
 * workspace. Detached, so that a Ctrl-C in the terminal does not end it halfway.
 */
function run(entry: string, args: readonly string[], env: Environment, stdio: StdioOptions): ChildProcess {
  const [command, ...rest] = sourceCommand(join(REPOSITORY, entry), args, 'TERM');
  return spawn(command, rest, { env, stdio, detached: true });
}

/** Runs the migrations. Their output goes to the terminal. */
export async function runMigrations(env: Environment): Promise<void> {
  const child = run('packages/postgres/src/migrate-main.ts', [], env, 'inherit');
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  if (code !== 0)
    throw new StackError(
      'migrations-failed',
      `The migrations failed with ${signal ?? `code ${code}`}. Read their message above.`,
    );
}

/**
 * Reads or creates the API token of the user `dev`. The token is stored in the data folder, so it stays the
 * same while it is valid.
 * @returns null after printing the reason when no token could be created; Pasteflow runs without it
 */
export async function keepDevToken(env: Environment, dataDir: string): Promise<string | null> {
  mkdirSync(dataDir, { recursive: true }); // Without an embedded stack the folder may be missing.
  const args = ['dev', '--token-name', 'npm start', '--keep-in', join(dataDir, 'dev-token')];
  const child = run('services/api/src/token-main.ts', args, env, ['ignore', 'pipe', 'pipe']);
  const [token, notice, [code]] = await Promise.all([
    text(child.stdout as Readable),
    text(child.stderr as Readable),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  if (code === 0) return token.trim();
  process.stderr.write(notice);
  return null;
}
