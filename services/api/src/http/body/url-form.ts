import type { IncomingMessage, ServerResponse } from 'node:http';
import { readUrlForm as parseUrlForm } from '@pasteflow/http-kit';
import { RequestError, validationFailed } from '../answers/request-error.ts';
import { mediaTypeOf } from '../request/media-type.ts';
import { FORM_USER_FIELD, requireFormUser } from '../request/form-user.ts';
import { readBody, type BudgetOfBodies } from './read-body.ts';

/** The fields of a form by their names; those that may be repeated are lists. */
export type UrlForm = Readonly<Record<string, string | readonly string[]>>;

/**
 * Reads the short form of a page, as browsers send it (application/x-www-form-urlencoded).
 * @param repeated the fields that may be repeated
 * @throws RequestError unsupported_media_type, malformed_request, validation_failed for another field that is repeated, and as
 *   requireFormUser and readBody
 */
export async function readUrlForm(
  req: IncomingMessage,
  res: ServerResponse,
  budget: BudgetOfBodies,
  repeated: readonly string[] = [],
): Promise<UrlForm> {
  mediaTypeOf(req); // refuses one that is too long
  const fields = await parseUrlForm(req, (maxBytes) =>
    readBody(req, res, { maxBytes, tooLarge: () => tooLarge(maxBytes), budget, weight: 1 }),
  );
  if (fields === null)
    throw new RequestError('unsupported_media_type', 'Send the form as application/x-www-form-urlencoded.');
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

function tooLarge(maxBytes: number): RequestError {
  return new RequestError('content_too_large', `Send at most ${maxBytes} bytes.`);
}

/** For a form without a field of its own, which programs may send without a body. @throws as readUrlForm */
export async function readEmptyForm(...[req, res, budget]: Parameters<typeof readUrlForm>): Promise<void> {
  if (req.headers['content-type'] !== undefined) await readUrlForm(req, res, budget);
}
