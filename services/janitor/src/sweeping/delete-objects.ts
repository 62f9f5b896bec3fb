import { objectKeyOf } from '@pasteflow/domain';
import type { ObjectStore } from '@pasteflow/s3';

/**
 * Deletes the objects of up to 1000 pastes in one call. A missing object counts as deleted. When S3 reports an error for a key that was not in
 * the call, the error could be about any of them, and all count as refused.
 * @returns the short codes whose object S3 refused to delete, each with the reason
 * @throws DependencyUnavailableError when the whole call fails
 */
export async function deleteObjects(
  store: ObjectStore,
  shortCodes: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const codeOf = new Map(shortCodes.map((code) => [objectKeyOf(code), code]));
  const refused = new Map<string, string>();
  for (const { key, reason } of await store.deleteMany([...codeOf.keys()])) {
    const code = codeOf.get(key);
    if (code === undefined) return new Map(shortCodes.map((each) => [each, reason]));
    refused.set(code, reason);
  }
  return refused;
}
