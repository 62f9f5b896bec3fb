/**
 * Runs `work` for each item, at most `lanes` at the same time, and hands the results over in the order of the items, each as soon as those
 * before it are there.
 */
export async function inLanes<Item, Result>(
  items: readonly Item[],
  lanes: number,
  work: (item: Item) => Promise<Result>,
  take: (result: Result) => void,
): Promise<void> {
  const waiting = new Map<number, Result>();
  let begun = 0;
  let taken = 0;
  const lane = async (): Promise<void> => {
    for (let n = begun++; n < items.length; n = begun++) {
      waiting.set(n, await work(items[n] as Item));
      for (; waiting.has(taken); taken += 1) {
        take(waiting.get(taken) as Result);
        waiting.delete(taken);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(lanes, items.length) }, lane));
}
