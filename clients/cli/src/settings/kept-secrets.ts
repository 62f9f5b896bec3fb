import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { folderOf, writePrivately } from './config-file.ts';

/** What the path of a file may be made of: the server chooses the codes. */
const CODE = /^[\dA-Za-z]{1,64}$/;

/** What a server answers may be no text. */
export function isCode(text: unknown): boolean {
  return typeof text === 'string' && CODE.test(text);
}

/** Rights of the group and of everybody else. */
const OF_OTHERS = 0o077;

/**
 * What nobody can ask for again, by the code that it belongs to: the delete tokens of anonymous pastes, and the private
 * keys of requests. Each is a file of its own, so that two commands at the same time can't lose each other's.
 */
export class KeptSecrets {
  readonly #folder: string;

  constructor(
    env: Readonly<Record<string, string | undefined>>,
    kind: 'delete-tokens' | 'request-keys',
    server: string,
  ) {
    this.#folder = join(folderOf(env, 'XDG_STATE_HOME'), kind, encodeURIComponent(server));
  }

  async keep(code: string, secret: string): Promise<void> {
    await writePrivately(this.pathOf(code), `${secret}\n`);
  }

  /** @returns undefined: none is kept, as for `~` and a slug */
  async find(code: string): Promise<string | undefined> {
    if (!isCode(code)) return undefined;
    try {
      return (await readFile(this.pathOf(code), 'utf8')).trim();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      return undefined;
    }
  }

  /** Whether somebody else on this machine may read what is kept. */
  async isExposed(code: string): Promise<boolean> {
    return ((await stat(this.pathOf(code))).mode & OF_OTHERS) !== 0;
  }

  async forget(code: string): Promise<void> {
    if (isCode(code)) await rm(this.pathOf(code), { force: true });
  }

  pathOf(code: string): string {
    if (!isCode(code)) throw new Error(`${JSON.stringify(code)} is not a short code.`);
    return join(this.#folder, code);
  }
}
