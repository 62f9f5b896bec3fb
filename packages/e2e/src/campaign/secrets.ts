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

export const isSecret = (n: number): boolean => n % SECRET_EVERY === 0;

const TRY_AGAIN_AFTER_MS = 200;

/** The pastes of a campaign that are deleted when they are read, and their readers, who run beside the load. */
export class Secrets {
  readonly #cluster: Cluster;
  readonly #reading: Promise<Secret>[] = [];

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  get count(): number {
    return this.#reading.length;
  }

  add(n: number, code: string, content: Buffer): void {
    this.#reading.push(this.#read(n, code, content));
  }

  /** Resolves when every reader has an end. */
  async all(): Promise<readonly Secret[]> {
    return await Promise.all(this.#reading);
  }

  async #read(n: number, code: string, content: Buffer): Promise<Secret> {
    const reveals: Reveal[] = [];
    const readers = READERS[(n / SECRET_EVERY) % READERS.length] ?? 0;
    await Promise.all(
      Array.from({ length: readers }, async (_, reader) => {
        for (;;) {
          const http = this.#cluster.http((n + reader) % this.#cluster.apis.length);
          const reveal = await revealOnce(http, code, content);
          reveals.push(reveal);
          if (reveal.kind !== 'refused' && reveal.kind !== 'cut') return;
          await sleep(TRY_AGAIN_AFTER_MS);
        }
      }),
    );
    return { n, code, content, reveals };
  }
}
