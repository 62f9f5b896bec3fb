import { mkdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { writeAtomically } from '../files/write-atomically.ts';
import { UsageError } from '../errors.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** What `pasteflow login` keeps. */
export interface ConfigFile {
  /** The server of commands that name none. */
  readonly server?: string;
  /** By server, so that no server gets the token of another one. */
  readonly tokens: Readonly<Record<string, string>>;
}

const EMPTY: ConfigFile = { tokens: {} };

/** Its owner alone may read it: it has tokens. */
const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;

/** https://specifications.freedesktop.org/basedir-spec: a path that is not absolute counts as unset. */
export function folderOf(env: Environment, variable: 'XDG_CONFIG_HOME' | 'XDG_STATE_HOME'): string {
  const { [variable]: given = '', HOME: home = homedir() } = env;
  const ordinary = variable === 'XDG_CONFIG_HOME' ? '.config' : '.local/state';
  return join(isAbsolute(given) ? given : join(home, ordinary), 'pasteflow');
}

export function configPathOf(env: Environment): string {
  return join(folderOf(env, 'XDG_CONFIG_HOME'), 'config.json');
}

/** @throws UsageError when the file is damaged */
export async function readConfigFile(env: Environment): Promise<ConfigFile> {
  const path = configPathOf(env);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT')
      throw new UsageError(`${path} can not be read: ${error.message}.`, { cause: error });
    return null;
  });
  if (text === null) return EMPTY;
  const config = parsed(text);
  if (config === null)
    throw new UsageError(`${path} is damaged. Correct it, or remove it and run \`pasteflow login\` again.`);
  return config;
}

export async function writeConfigFile(env: Environment, config: ConfigFile): Promise<void> {
  await writePrivately(configPathOf(env), `${JSON.stringify(config, null, 2)}\n`);
}

/** Writes a file that only its owner may read, and makes its folders likewise. */
export async function writePrivately(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: PRIVATE_FOLDER });
  await writeAtomically(path, async (file) => file.writeFile(text), { mode: PRIVATE_FILE });
}

function parsed(text: string): ConfigFile | null {
  const config = parseJson(text) as Partial<ConfigFile> | null;
  if (typeof config !== 'object' || config === null) return null;
  const { server, tokens = {} } = config;
  if (typeof tokens !== 'object' || tokens === null) return null;
  const areTexts = [server ?? '', ...Object.values(tokens)].every((each) => typeof each === 'string');
  return areTexts ? { ...(server !== undefined && { server }), tokens } : null;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
