import type { Deposit } from '@pasteflow/client';
import type { SecretKey } from '@pasteflow/sealed';
import { unwrapKey } from '@pasteflow/sealed/wrapped-keys';
import type { Session } from '../session.ts';
import { isCode } from '../settings/kept-secrets.ts';
import { openContent, type OpenedContent } from './open-content.ts';

export interface OpenedDeposit {
  readonly content: OpenedContent;
  /** Of the paste that the deposit is. */
  readonly key: SecretKey;
}

/** The server names the deposits, and a name becomes the path of a folder. @throws Error */
export function assertNamed({ short_code: code }: Deposit): void {
  if (!isCode(code)) throw new Error(`${JSON.stringify(code)} is not the code of a deposit.`);
}

/** @throws WrongRequestKeyError, WrongKeyError: the key is that of another request, or somebody has changed what is stored */
export async function openDeposit(
  session: Session,
  { short_code: code, wrapped_key: wrapped }: Deposit,
  { id, privatePart }: { readonly id: string; readonly privatePart: string },
): Promise<OpenedDeposit> {
  const key = await unwrapKey(wrapped, id, privatePart);
  const stored = await session.client.pastes.content(code, { signal: session.signal });
  return { key, content: await openContent(session, stored, { key, part: 'text or attachment' }) };
}
