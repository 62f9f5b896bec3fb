import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { sourceCommand } from '../source-command.ts';
import { REPOSITORY, type Environment } from '../stack-config.ts';
import { StackError } from '../stack-error.ts';

/** A process of its own, as dev-stack imports nothing of the workspace. It prints what it did, or why it couldn't. */
export async function runMigrations(env: Environment): Promise<void> {
  const entry = join(REPOSITORY, 'packages/postgres/src/migrate-main.ts');
  const [command, ...args] = sourceCommand(entry, [], 'TERM');
  const child = spawn(command, args, { env, stdio: 'inherit', detached: true });
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  if (code !== 0)
    throw new StackError(
      'migrations-failed',
      `The migrations ended with ${signal ?? `code ${code}`}: see their message above.`,
    );
}
