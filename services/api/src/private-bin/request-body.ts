import { type PasteOptions, mustBeOneOf } from '@pasteflow/service-kit';
import { SealedFormatError, toSealed, type SealedDocument } from '@pasteflow/sealed';
import { z } from 'zod';
import { parseJson } from '../http/body/json-body.ts';
import { type RequestError, validate, validationFailed } from '../http/errors/request-error.ts';
import { expirations, type Expiration } from './expirations.ts';

/** What a client of PrivateBin's posts. */
export type PrivateBinBody =
  | {
      readonly kind: 'create';
      readonly document: SealedDocument;
      readonly options: PasteOptions;
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

function toDocument(value: unknown): SealedDocument {
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
 * Refuses `1e5` and `100000.0`: the authenticated data is written anew from the parsed numbers, and a client that has authenticated another
 * spelling could not decrypt the paste.
 */
function plainNumbers(key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined || context.source === String(value))
    return value;
  throw validationFailed([{ path: key, message: 'must be written as a plain number' }]);
}

function has(value: unknown, key: string): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key);
}
