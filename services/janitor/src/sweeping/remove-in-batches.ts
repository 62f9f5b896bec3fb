/**
 * Calls `remove` until a batch is smaller than `limit` or the signal is aborted.
 * @param remove removes up to `limit` rows. @returns how many
 * @returns the number of removed rows
 */
export async function removeInBatches(
  { limit, signal }: { readonly limit: number; readonly signal: AbortSignal },
  remove: (limit: number) => Promise<number>,
): Promise<number> {
  let total = 0;
  while (!signal.aborted) {
    const removed = await remove(limit);
    total += removed;
    if (removed < limit) break;
  }
  return total;
}
