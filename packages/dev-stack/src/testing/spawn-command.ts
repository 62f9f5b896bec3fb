import { join } from 'node:path';
import { REPOSITORY } from '../stack-config.ts';
import { spawnService, type SpawnedService } from './spawn-service.ts';

/**
 * Runs `npm run NAME -- ARGS` without npm: the command finds the embedded stack of the data folder that `env`
 * names.
 */
export function spawnCommand(
  name: 'token' | 'ops' | 'janitor',
  args: readonly string[],
  env: Record<string, string>,
): SpawnedService {
  const entry = join(REPOSITORY, 'packages/dev-stack/src/command-main.ts');
  return spawnService({ entry, args: [name, ...args], env, name });
}
