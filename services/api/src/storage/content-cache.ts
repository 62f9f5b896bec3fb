import type { ContentEncoding } from '@pasteflow/domain';
import type { PasteRow } from '@pasteflow/postgres';
import type { Metrics } from '@pasteflow/runtime';
import { LRUCache } from 'lru-cache';
import { MAX_WHOLE_BYTES } from '../http/limits/download-budget.ts';

type CachedPaste = Pick<PasteRow, 'short_code' | 'content_hash' | 'size_bytes'>;

/** Content in the form in which it is stored. */
export interface StoredContent {
  readonly bytes: Buffer;
  readonly encoding: ContentEncoding | null;
}

/** The memory of an entry beside its content. */
const ENTRY_BYTES = 2048;

/**
 * The content that this process has read from S3 last, as it is stored: compressed content takes less
 * memory. It knows nothing of deletions: ask Postgres for the row of the paste before each read. Contents of
 * more than 256 KiB are not kept.
 */
export class ContentCache {
  readonly #contents: LRUCache<string, StoredContent> | null;
  readonly #reads;

  /** @param maxBytes 0: nothing is kept */
  constructor({ maxBytes, metrics }: { readonly maxBytes: number; readonly metrics: Metrics }) {
    this.#contents =
      maxBytes === 0
        ? null
        : new LRUCache({ maxSize: maxBytes, sizeCalculation: ({ bytes }) => bytes.length + ENTRY_BYTES });
    this.#reads = metrics.counter({
      name: 'content_cache_reads_total',
      help: 'Reads of contents of up to 256 KiB: from the cache (hit), or from S3 (miss).',
      labels: ['outcome'],
    });
    for (const outcome of ['hit', 'miss']) this.#reads.inc({ outcome }, 0);
    metrics.computed(
      {
        name: 'content_cache_bytes',
        help: 'Memory of the contents that are kept for the next reads, and its limit.',
        type: 'gauge',
        labels: ['kind'],
      },
      () => [
        { labels: { kind: 'used' }, value: this.#contents?.calculatedSize ?? 0 },
        { labels: { kind: 'limit' }, value: maxBytes },
      ],
    );
  }

  get(paste: CachedPaste): StoredContent | undefined {
    if (paste.size_bytes > MAX_WHOLE_BYTES) return undefined;
    const content = this.#contents?.get(keyOf(paste));
    this.#reads.inc({ outcome: content === undefined ? 'miss' : 'hit' });
    return content;
  }

  /**
   * @param content all bytes of the object, whose content's hash was checked; they are never changed
   * afterwards
   */
  add(paste: CachedPaste, content: StoredContent): void {
    if (paste.size_bytes <= MAX_WHOLE_BYTES) this.#contents?.set(keyOf(paste), content);
  }
}

/**
 * Equal content of two pastes is kept twice. Otherwise anybody could create a paste with the content that
 * they guess, and learn from the time of its first read whether a private paste has the same content.
 */
function keyOf({ short_code: shortCode, content_hash: contentHash }: CachedPaste): string {
  return `${shortCode} ${contentHash}`;
}
