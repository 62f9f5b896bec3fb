import { createHash } from 'node:crypto';
import { seededRandom } from '@pasteflow/dev-stack/testing';

export type Fate =
  | 'kept'
  | 'deleted'
  | 'taken down'
  | 'expired'
  | 'read once'
  | 'read or deleted'
  | 'read or taken down';

/** What happens to the paste with this number. A takedown starts a process, so that there are few. */
export function fateOf(n: number): Fate {
  if (n % 10 === 0) return 'deleted';
  if (n % 7 === 0) return 'read once';
  if (n % 100 === 51) return 'taken down';
  if (n % 100 === 58) return 'read or taken down';
  if (n % 20 === 13) return 'expired';
  return n % 20 === 18 ? 'read or deleted' : 'kept';
}

/** Of five pastes, one has two clients that create it at the same time, with one Idempotency-Key. */
export const clientsOf = (n: number): number => (n % 5 === 1 ? 2 : 1);

/** The slug that the clients compete for after the paste with this number. */
export const slugAfter = (seed: number, n: number): string | undefined =>
  n % 50 === 2 ? `campaign-${seed}-${n}` : undefined;

/** Whether clients compete for the place of the newer version of another paste after the paste with this number. */
export const isEditedAfter = (n: number): boolean => n % 50 === 27;

export const keyOf = (seed: number, n: number): string => `campaign-${seed}-${n}`;

/** Of three pastes that are read once, nobody reads one, one reader reads another, and three race for the last. */
export function readersOf(n: number): number {
  return [0, 1, 3][(n / 7) % 3] ?? 0;
}

/** The job that is created after the paste with this number. */
export function jobAfter(n: number): 'none' | 'import' | 'cancelled import' {
  if (n % 50 > 0) return 'none';
  return n % 100 === 0 ? 'cancelled import' : 'import';
}

/**
 * The bytes depend on the seed and the number alone: every fifth paste has 60 kB, too many for its message, so
 * that the worker reads the payload. The others have 8 bytes, so that no two are equal, to 2 kB, and some have 400 kB: the api sends more than
 * 256 KiB while it reads them from S3.
 */
export function contentOf(seed: number, n: number): Buffer {
  const random = new Random(seed * 1_000_003 + n);
  const size = n % 77 === 0 ? 400_000 : n % 5 === 0 ? 60_000 : random.between(8, 2000);
  const block = createHash('sha512').update(`${seed} ${n}`).digest();
  const content = Buffer.alloc(size, block);
  return hasFiles(n) ? content.fill(block.toString('hex'), 0, size >> 1) : content;
}

export const depositKeyOf = (seed: number, n: number): string => `campaign-deposit-${seed}-${n}`;

/** What a depositor sends. The server can open neither, so that any bytes in this form will do. */
export function depositOf(seed: number, n: number): { content: string; wrapped_key: string } {
  const random = (bytes: number, of: string): Buffer =>
    Buffer.alloc(bytes, createHash('sha512').update(`${of} ${seed} ${n}`).digest());
  const [iv, salt] = [random(16, 'iv'), random(8, 'salt')].map((bytes) => bytes.toString('base64'));
  const adata = [[iv, salt, 600_000, 256, 128, 'aes', 'gcm', 'zlib'], 'plaintext', 0, 0];
  const ct = Buffer.concat([contentOf(seed, n), random(16, 'tag')]).toString('base64');
  return {
    content: JSON.stringify({ v: 2, adata, ct }),
    wrapped_key: random(113, 'key').toString('base64url'),
  };
}

/** Of three pastes, one has several files. */
const hasFiles = (n: number): boolean => n % 3 === 1;
/** Of one to three parts, and some that an address has to encode. */
const FILE_NAMES = ['notes.txt', 'src/a b.bin', 'größe.dat', 'src/lib/#1', '100%'] as const;

/**
 * The content as 2 to 5 files: the first is text and the last binary. Of those with more than two, the second one
 * is empty in half of the cases. Undefined: the paste is one content.
 */
export function filesOf(seed: number, n: number): { name: string; content: Buffer }[] | undefined {
  if (!hasFiles(n)) return undefined;
  const content = contentOf(seed, n);
  const half = content.length >> 1;
  const random = new Random(seed * 1_000_003 - n);
  const cuts = Array.from({ length: random.between(0, 3) }, () => random.between(half, content.length - 1));
  if (n % 2 === 0 && cuts.length > 0) cuts[0] = half;
  const starts = [0, half, ...cuts.toSorted((a, b) => a - b)];
  return starts.map((start, file) => ({
    name: FILE_NAMES[file] ?? '',
    content: content.subarray(start, starts[file + 1]),
  }));
}

export const titleOf = (seed: number, n: number): string => `campaign ${seed} ${n}`;

/** The pastes that the import with this number makes. */
export function itemsOf(seed: number, n: number): { title: string; content: string }[] {
  return Array.from({ length: 20 }, (_, item) => ({
    title: `${titleOf(seed, n)} item ${item}`,
    content: `item ${item} of job ${n} with seed ${seed}`,
  }));
}

/** Numbers that depend on the seed alone. */
export class Random {
  /** Uniform in [0, 1). */
  readonly next: () => number;

  constructor(seed: number) {
    this.next = seededRandom(seed);
  }

  /** A whole number from `from` to `to`. */
  between(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  shuffle<Item>(items: readonly Item[]): Item[] {
    return items
      .map((item) => ({ item, order: this.next() }))
      .toSorted((a, b) => a.order - b.order)
      .map(({ item }) => item);
  }
}
