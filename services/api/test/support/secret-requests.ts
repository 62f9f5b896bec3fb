import { textOfSealed, seal, type SecretKey } from '@pasteflow/sealed';
import { newRequestKeys, wrapKey } from '@pasteflow/sealed/wrapped-keys';
import type { TestUser } from './users.ts';

export interface RequestView {
  readonly id: string;
  readonly url: string;
  readonly status: string;
  readonly message: string | null;
  readonly deposits: number;
  readonly deposits_left: number;
  readonly created_at: string;
  readonly expires_at: string;
}

export interface DepositView {
  readonly short_code: string;
  readonly url: string;
  readonly wrapped_key: string;
  readonly status: string;
  readonly size_bytes: number;
  readonly is_there: boolean;
}

export interface AskedFor extends RequestView {
  readonly publicPart: string;
  readonly privatePart: string;
}

export function ask(url: string, user: TestUser, body: unknown = {}): Promise<Response> {
  return fetch(`${url}/v1/requests`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...user.headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** A request, as a browser makes it. */
export async function newRequest(url: string, user: TestUser, body: object = {}): Promise<AskedFor> {
  const answer = await ask(url, user, body);
  if (answer.status !== 201) throw new Error(await answer.text());
  return { ...((await answer.json()) as RequestView), ...(await newRequestKeys()) };
}

export interface SealedDeposit {
  readonly content: string;
  readonly wrapped_key: string;
}

/** A text, sealed for who asks. */
export async function sealFor(
  { id, publicPart }: Pick<AskedFor, 'id' | 'publicPart'>,
  text = 'hunter2',
): Promise<SealedDeposit & { readonly key: SecretKey }> {
  const { document, key } = await seal({ text, syntax: null, title: null, attachments: [] });
  return { content: textOfSealed(document), wrapped_key: await wrapKey(key, id, publicPart), key };
}

/** For requests whose deposits are never opened. */
export const someDeposit: SealedDeposit = {
  content: JSON.stringify({
    v: 2,
    adata: [
      ['AAAAAAAAAAAAAAAAAAAAAA==', 'AAAAAAAAAAA=', 600_000, 256, 128, 'aes', 'gcm', 'zlib'],
      'plaintext',
      0,
      0,
    ],
    ct: 'A'.repeat(64),
  }),
  wrapped_key: 'A'.repeat(151),
};

export function deposit(
  url: string,
  id: string,
  body: object | string = someDeposit,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`${url}/v1/requests/${id}/deposits`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** @throws for any other answer than 201 */
export async function receiptOf(answer: Response): Promise<string> {
  if (answer.status !== 201) throw new Error(await answer.text());
  return ((await answer.json()) as { receipt: string }).receipt;
}

export async function depositsOf(url: string, id: string, user: TestUser): Promise<readonly DepositView[]> {
  const answer = await fetch(`${url}/v1/requests/${id}/deposits`, { headers: user.headers });
  if (answer.status !== 200) throw new Error(await answer.text());
  return ((await answer.json()) as { deposits: DepositView[] }).deposits;
}
