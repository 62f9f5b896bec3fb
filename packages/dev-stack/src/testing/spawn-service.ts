import { spawn } from 'node:child_process';
import { basename, dirname, join } from 'node:path';
import { bundleCommand, sourceCommand } from '../child-command.ts';
import { REPOSITORY } from '../stack-config.ts';
import { bundleOf } from './service-bundles.ts';
import { SpawnedProcess } from './spawned-process.ts';

/** The setting with which a service works on the Postgres of a test, which does without fsync for speed. */
export const UNSAFE_POSTGRES = { ALLOW_POSTGRES_TO_LOSE_DATA: 'fsync,full_page_writes' } as const;

export interface SpawnOptions {
  /** The path of the TypeScript entry file. */
  entry: string;
  args?: string[];
  /** Added to PATH, HOME and TMPDIR, the only variables that are inherited, and to UNSAFE_POSTGRES. */
  env?: Record<string, string>;
  /** For error messages. Default: the name of the folder that holds `src`. */
  name?: string;
}

/**
 * Runs an entry file with the Node of this process, in a test from its bundle if it has one, and otherwise
 * from its source. On Linux it cannot outlive this process, even after a kill -9. An exit hook would not
 * work, because jest never calls the exit hooks of a test.
 */
export function spawnService({
  entry,
  args = [],
  env = {},
  name = nameOf(entry),
}: SpawnOptions): SpawnedProcess {
  // oxlint-disable-next-line node/no-process-env -- `sources` selects the sources for a run of all tests
  const bundle = process.env.TEST_SERVICES_FROM === 'bundles' ? bundleOf(entry) : undefined;
  const [command, ...rest] =
    bundle === undefined ? sourceCommand(entry, args, 'KILL') : bundleCommand(bundle, args, 'KILL');
  const child = spawn(command, rest, {
    env: {
      ...inherited(),
      ...UNSAFE_POSTGRES,
      NODE_COMPILE_CACHE: COMPILED,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return new SpawnedProcess(name, child);
}

/** services/api/src/main.ts → api */
function nameOf(entry: string): string {
  return basename(dirname(dirname(entry)));
}

/** Keeps compiled code between starts: a service then starts with half the CPU time. */
const COMPILED = join(REPOSITORY, 'node_modules/.cache/compiled');

/** A process that a test starts must not get the developer's own DATABASE_URL or AWS_PROFILE. */
function inherited(): Record<string, string> {
  // oxlint-disable-next-line node/no-process-env -- not configuration: what any program needs to run at all
  const { PATH = '', HOME = '', TMPDIR = '' } = process.env;
  return { PATH, HOME, ...(TMPDIR && { TMPDIR }) };
}

/**
 * Runs `npm run NAME -- ARGS` without npm: the command finds the embedded stack of the data folder that `env`
 * names.
 */
export function spawnCommand(
  name: 'token' | 'ops' | 'janitor',
  args: readonly string[],
  env: Record<string, string>,
): SpawnedProcess {
  const entry = join(REPOSITORY, 'packages/dev-stack/src/command-main.ts');
  return spawnService({ entry, args: [name, ...args], env, name });
}
