import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { sourceCommand } from '../source-command.ts';
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
