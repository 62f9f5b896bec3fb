import {
  BrokenLinkError,
  publicPartOf,
  unwrapKey,
  wrapKey,
  WrongRequestKeyError,
} from '@pasteflow/sealed/wrapped-keys';

// What opens deposits. It is loaded where there is a key.
export { fragmentOfKey } from '@pasteflow/sealed';
export { unwrapKey, WrongRequestKeyError };

/**
 * Tries the pair in the own link of a request: a letter that was changed would otherwise lead others to a key that opens
 * nothing.
 * @returns the part for the others; null: it is no pair
 */
export async function triedPublicPart(privatePart: string, requestId: string): Promise<string | null> {
  try {
    const publicPart = publicPartOf(privatePart);
    const wrapped = await wrapKey(new Uint8Array(32), requestId, publicPart);
    await unwrapKey(wrapped, requestId, privatePart);
    return publicPart;
  } catch (error) {
    if (error instanceof BrokenLinkError || error instanceof WrongRequestKeyError) return null;
    throw error;
  }
}
