import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { folderOf, writePrivately } from './config-file.ts';

/** What the path of a file may be made of: the server chooses the codes. */
const CODE = /^[\dA-Za-z]{1,64}$/;

/**
 * The delete tokens of anonymous pastes, which nobody can ask for again. Each is a file of its own, so that
 * two commands at the same time can't lose each other's.
 */
export class DeleteTokens {
  readonly #folder: string;

  constructor(env: Readonly<Record<string, string | undefined>>, server: string) {
    this.#folder = join(folderOf(env, 'XDG_STATE_HOME'), 'delete-tokens', encodeURIComponent(server));
  }

  async keep(shortCode: string, token: string): Promise<void> {
    await writePrivately(this.#pathOf(shortCode), `${token}\n`);
  }

  /**
   * @param name a short code, or `~` and a slug, which no anonymous paste has.
   * @returns undefined: none is kept
   */
  async find(name: string): Promise<string | undefined> {
    if (!CODE.test(name)) return undefined;
    try {
      return (await readFile(this.#pathOf(name), 'utf8')).trim();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      return undefined;
    }
  }

  async forget(name: string): Promise<void> {
    if (CODE.test(name)) await rm(this.#pathOf(name), { force: true });
  }

  #pathOf(shortCode: string): string {
    if (!CODE.test(shortCode)) throw new Error(`${JSON.stringify(shortCode)} is not a short code.`);
    return join(this.#folder, shortCode);
  }
}
