import { inPortions, type Database, type Portioned } from '@pasteflow/postgres';
import type { RefusedRows } from './refused-rows.ts';

/**
 * Calls `handle` until it finds fewer rows than `limit`, or the signal is aborted.
 * @param handle
 * @returns how many rows it found
 */
export async function inBatches(
  { limit, signal }: { readonly limit: number; readonly signal: AbortSignal },
  handle: (limit: number) => Promise<number>,
): Promise<void> {
  while (!signal.aborted) if ((await handle(limit)) < limit) return;
}

/**
 * Calls a statement that searches its rows itself until it finds fewer than `limit`, or the signal is aborted.
 * A row that Postgres refuses stops no others: it is remembered, and left out for a time.
 * @param take gets the result of each statement. @returns how many rows it took
 */
export async function inPortionedBatches<Result>(
  { db, table, limit, signal, refused }: PortionedBatches,
  statement: Portioned<Result>,
  take: (result: Result) => number | Promise<number>,
): Promise<void> {
  await inBatches({ limit, signal }, async () => {
    let taken = 0;
    const onRefused = refused.of(table);
    const portion = { limit, without: refused.waiting(table) };
    const results = await inPortions(db, statement, portion, (name, error) => {
      onRefused(name, error);
      if (refused.waiting(table).includes(name)) taken += 1; // the next batch leaves it out
    });
    for (const result of results) taken += await take(result);
    return taken;
  });
}

export interface PortionedBatches {
  readonly db: Database;
  /** The name of the table for the rows that are refused. */
  readonly table: string;
  readonly limit: number;
  readonly signal: AbortSignal;
  readonly refused: RefusedRows;
}

/**
 * Calls `act` for each item, `lanes` items at a time. A lane ends at its first failure, and starts no further
 * item once the signal is aborted.
 * @throws the first failure, after all lanes have ended
 */
export async function inLanes<Item>(
  items: readonly Item[],
  { lanes, signal }: { readonly lanes: number; readonly signal: AbortSignal },
  act: (item: Item) => Promise<void>,
): Promise<void> {
  const left = items.values();
  const runLane = async (): Promise<void> => {
    while (!signal.aborted) {
      const { done, value } = left.next();
      if (done === true) return;
      await act(value);
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: lanes }, runLane));
  const failed = ended.find((lane) => lane.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
