import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { sourceCommand } from '../source-command.ts';
import { REPOSITORY, type Environment } from '../stack-config.ts';

/** As the database's list of tokens calls it. */
const TOKEN_NAME = 'npm start';

/**
 * The API token of the user `dev`, the same at every start for as long as it is good: it is kept in the data folder. A process of its own,
 * as dev-stack imports nothing of the workspace. @returns null when there is none to be had, after it has said why: nothing else needs it
 */
export async function keepDevToken(env: Environment, dataDir: string): Promise<string | null> {
  mkdirSync(dataDir, { recursive: true }); // an embedded stack has made it; without one there is none yet
  const entry = join(REPOSITORY, 'services/api/src/token-main.ts');
  const wanted = ['dev', '--token-name', TOKEN_NAME, '--keep-in', join(dataDir, 'dev-token')];
  const [command, ...args] = sourceCommand(entry, wanted, 'TERM');
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
