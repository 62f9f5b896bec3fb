import type { IncomingMessage } from 'node:http';
import { isShortCode } from '@pasteflow/domain';

/** What the query of a GET by a client of PrivateBin's asks for. */
export type PrivateBinQuery =
  | { readonly kind: 'paste'; readonly shortCode: string }
  | { readonly kind: 'json-ld'; readonly name: string }
  | { readonly kind: 'none' };

/**
 * `?CODE`, `?pasteid=CODE` or `?jsonld=NAME`. Other parameters are ignored: some services append their own to each link.
 */
export function privateBinQuery(req: IncomingMessage): PrivateBinQuery {
  const parameters = new URLSearchParams((req.url ?? '').split('?').slice(1).join('?'));
  const name = parameters.get('jsonld');
  if (name !== null) return { kind: 'json-ld', name };
  const bare = [...parameters].find(([key, value]) => value === '' && isShortCode(key))?.[0];
  const shortCode = parameters.get('pasteid') ?? bare;
  if (shortCode === undefined || !isShortCode(shortCode)) return { kind: 'none' };
  return { kind: 'paste', shortCode };
}
