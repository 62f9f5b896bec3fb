import type { IncomingMessage, ServerResponse } from 'node:http';
import { RequestError, validationFailed } from '../errors/request-error.ts';
import { mediaTypeOf } from '../request/media-type.ts';
import { readBody, type BudgetOfBodies } from './read-body.ts';

/** A hundred short codes, or a token of 4 KB with its percent-encoding. */
const MAX_FORM_BYTES = 16_384;

/** The fields of a form, in their order. */
export interface UrlForm {
  /** @throws RequestError validation_failed for a field that is repeated */
  readonly one: (name: string) => string | null;
  readonly all: (name: string) => readonly string[];
}

/**
 * Reads the short form of a page, as browsers send it (application/x-www-form-urlencoded).
 * @throws RequestError unsupported_media_type, and as readBody
 */
export async function readUrlForm(
  req: IncomingMessage,
  res: ServerResponse,
  budget: BudgetOfBodies,
): Promise<UrlForm> {
  if (mediaTypeOf(req).type !== 'application/x-www-form-urlencoded') {
    throw new RequestError('unsupported_media_type', 'Send the form as application/x-www-form-urlencoded.');
  }
  const tooLarge = (): RequestError =>
    new RequestError('content_too_large', `Send at most ${MAX_FORM_BYTES} bytes.`);
  const body = await readBody(req, res, { maxBytes: MAX_FORM_BYTES, tooLarge, budget, weight: 1 });
  const fields = new URLSearchParams(body.toString());
  return {
    all: (name) => fields.getAll(name),
    one: (name) => {
      const [value = null, ...others] = fields.getAll(name);
      if (others.length > 0) throw validationFailed([{ path: name, message: 'must not be repeated' }]);
      return value;
    },
  };
}
