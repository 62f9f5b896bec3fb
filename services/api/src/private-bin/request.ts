import type { IncomingMessage } from 'node:http';
import { isShortCode, type ChosenOptions } from '@pasteflow/domain';
import { mustBeOneOf } from '@pasteflow/service-kit';
import { SealedFormatError, toSealed, type SealedPaste } from '@pasteflow/sealed';
import { z } from 'zod';
import { parseJson } from '../http/body/json-body.ts';
import {
  type FieldError,
  type RequestError,
  validate,
  validationFailed,
} from '../http/answers/request-error.ts';

/**
 * Whether the request comes from a client of PrivateBin's: all of them send this header, and no browser
 * sends it by itself, so that a link preview reads nothing here.
 */
export function isPrivateBin(req: IncomingMessage): boolean {
  return req.headers['x-requested-with'] === 'JSONHttpRequest';
}

/** What the query of a GET by a client of PrivateBin's asks for. */
export type PrivateBinQuery =
  | { readonly kind: 'paste'; readonly shortCode: string }
  | { readonly kind: 'json-ld'; readonly name: string }
  | { readonly kind: 'none' };

/**
 * `?CODE`, `?pasteid=CODE` or `?jsonld=NAME`. Other parameters are ignored: some services append their own
 * to each link.
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

const DAY = 86_400;

/** PrivateBin's names of lifetimes, in seconds; null: never. */
const expirations = {
  '5min': 300,
  '10min': 600,
  '1hour': 3600,
  '1day': DAY,
  '1week': 7 * DAY,
  '1month': 30 * DAY,
  '1year': 365 * DAY,
  never: null,
} as const satisfies Readonly<Record<string, number | null>>;

type Expiration = keyof typeof expirations;

/** What a client of PrivateBin's posts. */
export type PrivateBinBody =
  | {
      readonly kind: 'create';
      readonly document: SealedPaste;
      readonly options: ChosenOptions;
    }
  | { readonly kind: 'delete'; readonly shortCode: string; readonly deleteToken: string };

/** A paste has 20 values on four levels. */
const LIMITS = { maxDepth: 4, maxValues: 64 };

const deletion = z.strictObject({ pasteid: z.string().max(32), deletetoken: z.string().max(256) });

const names = Object.keys(expirations) as readonly Expiration[];
const creation = z.strictObject({
  v: z.unknown(),
  adata: z.unknown(),
  ct: z.unknown(),
  meta: z.strictObject({ expire: z.enum(names, mustBeOneOf(names)) }, 'must be an object with `expire`'),
});

/** @throws RequestError malformed_request or validation_failed */
export function parsePrivateBinBody(body: Buffer): PrivateBinBody {
  const value = parseJson(body, LIMITS, plainNumbers);
  if (has(value, 'deletetoken')) {
    const { pasteid, deletetoken } = validate(deletion, value);
    return { kind: 'delete', shortCode: pasteid, deleteToken: deletetoken };
  }
  if (has(value, 'parentid')) throw noDiscussions('parentid');
  const { meta, ...sealed } = validate(creation, value);
  const document = toDocument(sealed);
  const [, , discussion, burn] = document.adata;
  if (discussion === 1) throw noDiscussions('adata.2');
  return {
    kind: 'create',
    document,
    options: {
      title: null,
      syntax: null,
      encrypted: true,
      ...(burn === 1 && { burn: true }),
      visibility: 'unlisted',
      expiresInSeconds: expirations[meta.expire],
    },
  };
}

/** A broken rule of the house, named by the field of this protocol. */
export function toPrivateBinError({ path, message }: FieldError): FieldError {
  if (path === 'burn') return { path: 'adata.3', message: message.replace('must be true', 'must be 1') };
  return { path: OWN_FIELDS.get(path) ?? path, message };
}

const OWN_FIELDS: ReadonlyMap<string, string> = new Map([
  ['expires_in', 'meta.expire'],
  ['content', 'ct'],
]);

function toDocument(value: unknown): SealedPaste {
  try {
    return toSealed(value);
  } catch (error) {
    if (!(error instanceof SealedFormatError)) throw error;
    throw validationFailed([{ path: error.path, message: error.rule }]);
  }
}

function noDiscussions(path: string): RequestError {
  return validationFailed([
    { path, message: 'is refused: this service has no discussions. Send the paste without one' },
  ]);
}

/**
 * Refuses `1e5` and `100000.0`: the authenticated data is written anew from the parsed numbers, and a
 * client that has authenticated another spelling could not decrypt the paste.
 */
function plainNumbers(key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined || context.source === String(value))
    return value;
  throw validationFailed([{ path: key, message: 'must be written as a plain number' }]);
}

function has(value: unknown, key: string): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key);
}
