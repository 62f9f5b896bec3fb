import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../cluster.ts';
import { revealOnce, type Reveal } from './reveal.ts';

/** A paste that is deleted when it is read. */
export interface Secret {
  readonly n: number;
  readonly code: string;
  readonly content: Buffer;
  /** What its readers have got, in the order of the answers. Empty: nobody has read it. */
  readonly reveals: readonly Reveal[];
}

/** Every seventh paste is read once, save those that are deleted. */
const SECRET_EVERY = 7;
/** Of three such pastes nobody reads one, one reader reads another, and three readers race for the last. */
const READERS = [0, 1, 3];

const readersOf = (n: number): number => READERS[(n / SECRET_EVERY) % READERS.length] ?? 0;

export const isSecret = (n: number): boolean => n % SECRET_EVERY === 0;

const TRY_AGAIN_AFTER_MS = 200;

/**
 * The pastes of a campaign that are deleted when they are read, and their readers, who run beside the load.
 */
export class Secrets {
  readonly #cluster: Cluster;
  readonly #reading: Promise<Secret>[] = [];
  /** The claims that Postgres has committed and whose answers reached no api. */
  lostAnswers = 0;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  get count(): number {
    return this.#reading.length;
  }

  add(n: number, code: string, content: Buffer, readers: number = readersOf(n)): void {
    this.#reading.push(this.#read({ n, code, content }, readers));
  }

  /** Resolves when every reader has an end. */
  async all(): Promise<readonly Secret[]> {
    return await Promise.all(this.#reading);
  }

  /**
   * Each reader repeats its request, at one api after the other, until it has the content or another reader
   * has it.
   */
  async #read(paste: Omit<Secret, 'reveals'>, readers: number): Promise<Secret> {
    const { n, code, content } = paste;
    const reveals: Reveal[] = [];
    await Promise.all(
      Array.from({ length: readers }, async (_, reader) => {
        for (let tries = 0; ; tries += 1) {
          const http = this.#cluster.http((n + reader + tries) % this.#cluster.apis.length);
          const reveal = await revealOnce(http, code, content, `reader ${reader} of secret ${n}`);
          reveals.push(reveal);
          if (reveal.kind !== 'again') return;
          await sleep(TRY_AGAIN_AFTER_MS);
        }
      }),
    );
    return { ...paste, reveals };
  }
}
