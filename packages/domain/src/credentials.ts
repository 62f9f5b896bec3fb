/** Keys of AWS. Those of a role have an end. */
interface Credentials {
  readonly expiration?: Date;
}

/** A rotated key is used within this time. */
const REREAD_MS = 30_000;

/** The SDK asks again so long before the end of credentials. */
const REFRESHED_BEFORE_MS = 300_000;

/**
 * Gives credentials without an end one that is near, so that the SDK asks for them again: it would otherwise
 * use a key of a file for as long as the process runs. While they can't be read, the last ones are used.
 * @param read must not return what it has read before
 */
export function rereadCredentials<C extends Credentials>(
  read: () => Promise<C>,
  now: () => number,
): () => Promise<C> {
  let last: C | undefined;
  return async () => {
    try {
      last = await read();
      if (last.expiration !== undefined) return last;
    } catch (error) {
      if (last === undefined || last.expiration !== undefined) throw error;
    }
    return { ...last, expiration: new Date(now() + REFRESHED_BEFORE_MS + REREAD_MS) };
  };
}
