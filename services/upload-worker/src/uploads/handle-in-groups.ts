/**
 * Passes results to `handle` in groups while they arrive. A group closes when all results have arrived, or `lingerMs` after its first one. Ten
 * puts that end together are settled by one statement, and one slow put does not delay the other nine.
 * Resolves when every group has been handled.
 */
export async function handleInGroups<T>(
  pending: readonly Promise<T>[],
  lingerMs: number,
  handle: (group: readonly T[]) => Promise<void>,
): Promise<void> {
  let group: T[] = [];
  let left = pending.length;
  let lingering: NodeJS.Timeout | undefined;
  const handling: Promise<void>[] = [];

  function close(): void {
    clearTimeout(lingering);
    lingering = undefined;
    if (group.length > 0) handling.push(handle(group));
    group = [];
  }

  await Promise.all(
    pending.map(async (result) => {
      const value = await result; // not inside push(), which would use the group from before the wait
      group.push(value);
      left -= 1;
      if (left === 0) close();
      else lingering ??= setTimeout(close, lingerMs);
    }),
  );
  await Promise.all(handling);
}
