/**
 * Limits of concurrent reads, because S3 takes tens of milliseconds for each: their number, and the sum of
 * their sizes. At least one runs.
 */
const MAX_READS_AHEAD = 8;
const MAX_BYTES_AHEAD = 16 * 1024 * 1024;

/** Half of the reads: the other half runs while a group is written. */
const MAX_GROUP = MAX_READS_AHEAD / 2;

interface Read<Item, Result> {
  readonly item: Item;
  readonly result: Result;
}

interface Reading<Item, Result> {
  readonly item: Item;
  readonly result: Promise<Result>;
  /** The result is there. */
  isDone: boolean;
}

/**
 * Yields the items with the results of `read`, in order, while the next items are being read: in each group
 * those whose results are there. Leaving the loop aborts the running reads.
 * @throws the first error of a read, in the order of the items
 */
export async function* readAhead<Item extends { readonly sizeBytes: number }, Result>(
  items: AsyncIterable<Item>,
  read: (item: Item, signal: AbortSignal) => Promise<Result>,
  signal: AbortSignal,
): AsyncGenerator<readonly Read<Item, Result>[]> {
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
        const reading: Reading<Item, Result> = { item, result: read(item, stop), isDone: false };
        // An error is thrown when its turn comes; after an earlier error it is ignored.
        reading.result.then(
          () => (reading.isDone = true),
          () => {},
        );
        ahead.push(reading);
        bytes += item.sizeBytes;
        next = await source.next();
      }
      await ahead[0]?.result;
      const group: Read<Item, Result>[] = [];
      while (ahead[0]?.isDone === true && group.length < MAX_GROUP) {
        const { item, result } = ahead.shift() as Reading<Item, Result>;
        group.push({ item, result: await result });
      }
      yield group;
      for (const { item } of group) bytes -= item.sizeBytes;
    }
  } finally {
    left.abort();
    await source.return?.();
  }
}

function hasRoom(reads: number, bytes: number): boolean {
  return reads === 0 || (reads < MAX_READS_AHEAD && bytes <= MAX_BYTES_AHEAD);
}
