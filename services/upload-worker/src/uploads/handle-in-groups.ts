/**
 * Hands results on as they come, in groups: a group closes when all are in, or `lingerMs` after its first. Ten puts that end together
 * are settled by one statement, and one that hangs doesn't hold the other nine up.
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
      const value = await result; // not inside push(): that would take the group of before the wait
      group.push(value);
      left -= 1;
      if (left === 0) close();
      else lingering ??= setTimeout(close, lingerMs);
    }),
  );
  await Promise.all(handling);
}
