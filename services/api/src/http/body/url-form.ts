import type { IncomingMessage, ServerResponse } from 'node:http';
import { RequestError, validationFailed } from '../answers/request-error.ts';
import { mediaTypeOf } from '../request/media-type.ts';
import { FORM_USER_FIELD, requireFormUser } from '../request/form-user.ts';
import { readBody, type BudgetOfBodies } from './read-body.ts';

/** A hundred short codes, or a token of 4 KB with its percent-encoding. */
const MAX_FORM_BYTES = 16_384;

/** The fields of a form by their names; those that may be repeated are lists. */
export type UrlForm = Readonly<Record<string, string | readonly string[]>>;

/**
 * Reads the short form of a page, as browsers send it (application/x-www-form-urlencoded).
 * @param repeated the fields that may be repeated
 * @throws RequestError unsupported_media_type, validation_failed for another field that is repeated, and as
 *   requireFormUser and readBody
 */
export async function readUrlForm(
  req: IncomingMessage,
  res: ServerResponse,
  budget: BudgetOfBodies,
  repeated: readonly string[] = [],
): Promise<UrlForm> {
  if (mediaTypeOf(req).type !== 'application/x-www-form-urlencoded') {
    throw new RequestError('unsupported_media_type', 'Send the form as application/x-www-form-urlencoded.');
  }
  const tooLarge = (): RequestError =>
    new RequestError('content_too_large', `Send at most ${MAX_FORM_BYTES} bytes.`);
  const body = await readBody(req, res, { maxBytes: MAX_FORM_BYTES, tooLarge, budget, weight: 1 });
  const fields = new URLSearchParams(body.toString());
  const form: Record<string, string | readonly string[]> = Object.fromEntries(fields);
  for (const name of repeated) form[name] = fields.getAll(name);
  for (const name of fields.keys()) {
    if (repeated.includes(name) || fields.getAll(name).length === 1) continue;
    throw validationFailed([{ path: name, message: 'must not be repeated' }]);
  }
  const { [FORM_USER_FIELD]: user, ...others } = form;
  requireFormUser(req, user?.toString());
  return others;
}

/** For a form without a field of its own, which programs may send without a body. @throws as readUrlForm */
export async function readEmptyForm(...[req, res, budget]: Parameters<typeof readUrlForm>): Promise<void> {
  if (req.headers['content-type'] !== undefined) await readUrlForm(req, res, budget);
}
