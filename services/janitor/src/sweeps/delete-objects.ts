import type { ObjectStore } from '@pasteflow/s3';

/**
 * Deletes up to 1000 objects in one call. A missing object counts as deleted. When S3 reports an error for a
 * key that was not in the call, the error could be about any of them, and all count as refused.
 * @returns the keys that S3 refused to delete, each with the reason
 * @throws DependencyUnavailableError when the whole call fails
 */
export async function deleteObjects(
  store: ObjectStore,
  keys: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const refused = new Map((await store.deleteMany(keys)).map(({ key, reason }) => [key, reason]));
  const asked = new Set(keys);
  const unknown = [...refused].find(([key]) => !asked.has(key));
  return unknown === undefined ? refused : new Map(keys.map((key) => [key, unknown[1]]));
}
