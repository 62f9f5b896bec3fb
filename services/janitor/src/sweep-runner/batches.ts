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
