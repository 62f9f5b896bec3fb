import { openSealed } from './open-sealed.ts';
import type { SealedPaste } from './sealed-paste.ts';

/** `{}`, with a key of zeros and one round. */
const SAMPLE: SealedPaste = {
  v: 2,
  adata: [['AAAAAAAAAAAAAAAAAAAAAA==', 'AAAAAAAAAAA=', 1, 256, 128, 'aes', 'gcm', 'zlib'], 'plaintext', 0, 0],
  ct: 'bkAs2j77lTfNJlE7BWunbUJnSEU=',
};

/**
 * Whether this browser can decrypt. Ask before a paste is revealed: the server then deletes it. Browsers have
 * no `crypto.subtle` on pages that were loaded by http, and old ones don't know `deflate-raw`.
 */
export async function canOpenSealed(): Promise<boolean> {
  return await openSealed(SAMPLE, new Uint8Array(32)).then(
    () => true,
    () => false,
  );
}
