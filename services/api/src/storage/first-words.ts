import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { ListedPaste } from '@pasteflow/postgres';
import type { ObjectStore } from '@pasteflow/s3';
import { FIRST_WORDS_BYTES, firstWordsOf } from '@pasteflow/web';
import { LRUCache } from 'lru-cache';
import type { PasteWithoutCode } from './paste-inserts.ts';
import { openContent, readWhole } from './stored-content.ts';

/** Some 4 MB. */
const MAX_KEPT = 10_000;
/** A list reads at most this many beginnings from S3, and all lists of the process at most twice as many at a time. */
const MAX_READS = 10;
/** A list does not wait longer for S3. */
const MAX_WAIT_MS = 1000;

type Described = Omit<ListedPaste, 'place'>;

/**
 * The first words of pastes without a title, for the lists of their owners. They are in the memory of this process
 * alone, so that nothing has to be deleted with a content, and no creation writes them. What is read once or
 * encrypted has none. Like ContentCache it knows nothing of deletions: ask Postgres for the rows first.
 */
export class FirstWords {
  readonly #store;
  readonly #maxWaitMs;
  /** Empty: there are none to show. */
  readonly #kept = new LRUCache<string, string>({ max: MAX_KEPT });
  #reads = 0;

  constructor(store: Pick<ObjectStore, 'get'>, maxWaitMs = MAX_WAIT_MS) {
    this.#store = store;
    this.#maxWaitMs = maxWaitMs;
  }

  /** What a user has just sent. */
  learn(shortCode: string, paste: Omit<PasteWithoutCode, 'deleteTokenHash'>): void {
    const { userId, contentHash, content } = paste;
    if (userId !== null && mayHaveWords(paste)) this.#keep(keyOf(shortCode, contentHash), content);
  }

  /** @returns what is known within a second, by short code */
  async of(pastes: readonly Described[], res: ServerResponse): Promise<ReadonlyMap<string, string>> {
    const untitled = pastes.filter((paste) => mayHaveWords(paste) && paste.status !== 'FAILED');
    const missing = untitled.filter((each) => each.status === 'PROCESSED' && !this.#kept.has(keyOfRow(each)));
    const left = Math.min(MAX_READS, 2 * MAX_READS - this.#reads);
    const read = missing.slice(0, left);
    if (read.length > 0) {
      res.setMaxListeners(res.getMaxListeners() + 2 * read.length); // each read waits for the end of the answer
      const reads = read.map((paste) => this.#read(paste, res));
      const end = new AbortController();
      const waited = delay(this.#maxWaitMs, undefined, { signal: end.signal }).catch(() => {});
      await Promise.race([Promise.all(reads), waited]);
      end.abort();
    }
    return new Map(untitled.map((paste) => [paste.short_code, this.#kept.get(keyOfRow(paste)) ?? '']));
  }

  /** A read that fails is tried again by the next list. */
  async #read(paste: Described, res: ServerResponse): Promise<void> {
    this.#reads += 1;
    try {
      const range = { start: 0, end: Math.min(paste.size_bytes, FIRST_WORDS_BYTES) - 1 };
      const opened = await openContent(this.#store, { paste, range, accepts: null }, res);
      if (opened !== null) this.#keep(keyOfRow(paste), await readWhole(opened.body, opened.length, res));
    } catch {
      // the list shows the address instead
    } finally {
      this.#reads -= 1;
    }
  }

  #keep(key: string, beginning: Buffer): void {
    this.#kept.set(key, firstWordsOf(beginning) ?? '');
  }
}

function mayHaveWords({ title, burn, encrypted }: Pick<PasteWithoutCode, 'title' | 'burn' | 'encrypted'>) {
  return title === null && burn !== true && encrypted !== true;
}

function keyOf(shortCode: string, contentHash: string): string {
  return `${shortCode} ${contentHash}`;
}

const keyOfRow = (row: Described): string => keyOf(row.short_code, row.content_hash);
