/** Limits of concurrent reads, because S3 takes tens of milliseconds for each: their number, and the sum of their sizes. At least one runs. */
const MAX_READS_AHEAD = 8;
const MAX_BYTES_AHEAD = 16 * 1024 * 1024;

interface Reading<Item, Result> {
  readonly item: Item;
  readonly result: Promise<Result>;
}

/**
 * Yields each item with the result of `read`, in order, while the next items are being read. Leaving the loop aborts the running reads.
 * @throws the first error of a read, in the order of the items
 */
export async function* readAhead<Item extends { readonly sizeBytes: number }, Result>(
  items: AsyncIterable<Item>,
  read: (item: Item, signal: AbortSignal) => Promise<Result>,
  signal: AbortSignal,
): AsyncGenerator<{ readonly item: Item; readonly result: Result }> {
  const left = new AbortController();
  const stop = AbortSignal.any([signal, left.signal]);
  const ahead: Reading<Item, Result>[] = [];
  let bytes = 0;
  const source = items[Symbol.asyncIterator]();
  try {
    let next = await source.next();
    while (next.done !== true || ahead.length > 0) {
      while (next.done !== true && hasRoom(ahead.length, bytes + next.value.sizeBytes)) {
        const item = next.value;
        const result = read(item, stop);
        result.catch(() => {}); // the error is thrown when its turn comes; after an earlier error it is ignored
        ahead.push({ item, result });
        bytes += item.sizeBytes;
        next = await source.next();
      }
      const first = ahead.shift();
      if (first === undefined) continue;
      const result = await first.result;
      yield { item: first.item, result };
      bytes -= first.item.sizeBytes;
    }
  } finally {
    left.abort();
    await source.return?.();
  }
}

function hasRoom(reads: number, bytes: number): boolean {
  return reads === 0 || (reads < MAX_READS_AHEAD && bytes <= MAX_BYTES_AHEAD);
}
