import { canOpenSealed, textOfSealed } from '@pasteflow/sealed';
import { BrokenLinkError, wrapKey } from '@pasteflow/sealed/wrapped-keys';
import type { FormFile } from '../form/form-file.ts';
import { sealContent } from './seal-form.ts';

/** For whom a secret is encrypted. */
interface Recipient {
  readonly requestId: string;
  /** The part of the link behind `#`, which has the public key. */
  readonly fragment: string;
}

/** Tries what `sealDeposit` needs, before anybody types. @returns what is missing; null: nothing is */
export async function obstacleTo({
  requestId,
  fragment,
}: Recipient): Promise<'outdated' | 'brokenLink' | null> {
  try {
    await wrapKey(new Uint8Array(32), requestId, fragment);
  } catch (error) {
    return error instanceof BrokenLinkError ? 'brokenLink' : 'outdated';
  }
  return (await canOpenSealed()) ? null : 'outdated';
}

interface SealedDeposit {
  readonly content: string;
  readonly wrapped_key: string;
}

/** Encrypts with a new key, which only who asks can unwrap. @throws BrokenLinkError */
export async function sealDeposit(
  { text, files }: { readonly text: string; readonly files: readonly FormFile[] },
  { requestId, fragment }: Recipient,
): Promise<SealedDeposit> {
  const plain = { text, files, title: '', syntax: '', password: '', burn: false };
  const { document, key } = await sealContent(plain);
  return { content: textOfSealed(document), wrapped_key: await wrapKey(key, requestId, fragment) };
}
