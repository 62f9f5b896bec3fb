import type { Request } from 'express';
import { requestDeletion, type PasteRow } from '@pasteflow/postgres';
import { z } from 'zod';
import { deletedPage } from '@pasteflow/web';
import type { ApiContext } from '../context.ts';
import { userIdOf } from '../http/callers/caller-of.ts';
import { RequestError, validate } from '../http/answers/request-error.ts';
import { credentialsRequired } from '../http/callers/authorization.ts';
import { type Endpoint, pageEndpoint } from '../http/openapi/endpoint.ts';
import { optionalHeader } from '../http/openapi/formats.ts';
import { hashOfSecret, isSameHash } from '../http/callers/secret.ts';
import { example } from './example.ts';
import {
  assertNotGone,
  findErrors,
  findEvenHeld,
  namedPaste,
  pasteGone,
  readerOf,
} from './find-named-paste.ts';
import { readForm } from '../http/body/multipart.ts';
import { sendPage } from '../http/pages/page.ts';

/** The header of a request that only the owner can send, or who has the token of an anonymous paste. */
export const withDeleteToken = z.object({
  'Delete-Token': optionalHeader(
    'The delete_token from the answer that created the anonymous paste.',
    example.deleteToken,
  ),
});

/**
 * DELETE /v1/pastes/:short_code: nobody reads the paste from the answer on. The cleanup sweep deletes its
 * object.
 */
export function deletePaste(api: ApiContext): Endpoint {
  return {
    operation: {
      operationId: 'deletePaste',
      tag: 'pastes',
      access: 'anyone',
      summary: 'Deletes a paste immediately and permanently.',
      description: 'Needs a token of the owner or, for an anonymous paste, its delete_token.',
      params: {
        path: namedPaste,
        header: withDeleteToken,
      },
      answers: { 204: { description: 'The paste is deleted.' } },
      errors: findErrors,
    },
    handle: async (req, res) => {
      const paste = await findEvenHeld(api, req);
      assertNotGone(paste); // before the token is checked: a GET reveals it to everybody who can read the paste
      assertMayDelete(paste, req, req.get('Delete-Token'));
      if (!(await requestDeletion(api.db, paste.id))) throw pasteGone(); // another request deleted it meanwhile
      res.status(204).end();
    },
  };
}

/**
 * 401 also for the token of another user, because the owner's token would be accepted. A caller who gets this
 * far can read the paste anyway.
 * @throws RequestError unauthorized
 */
export function assertMayDelete(paste: PasteRow, req: Request, deleteToken: string | undefined): void {
  if (paste.user_id === null) {
    if (!isDeleteToken(deleteToken, paste.delete_token_hash)) throw deleteTokenRequired();
  } else if (paste.user_id !== userIdOf(req)) {
    throw credentialsRequired(
      'This paste has an owner. Send a token of the owner in the header `Authorization: Bearer TOKEN`.',
    );
  }
}

function deleteTokenRequired(): RequestError {
  return new RequestError(
    'unauthorized',
    'Send the delete_token of this paste in the header `Delete-Token`.',
    { headers: { 'WWW-Authenticate': 'Delete-Token realm="pasteflow"' } },
  );
}

/** Compares in constant time. @param hash null: the paste has no delete token, and none matches */
export function isDeleteToken(token: string | undefined, hash: Buffer | null): boolean {
  return token !== undefined && hash !== null && isSameHash(hashOfSecret(token), hash);
}

/** A form with one short field. */
const MAX_FORM_BYTES = 8192;

const form = z.strictObject({
  delete_token: z.string('must be a text').optional(),
});

/** POST /:short_code/delete: deletes a paste from the form of its page. It works without JavaScript. */
export function deleteFromForm(api: ApiContext): Endpoint {
  return pageEndpoint({ access: 'anyone', countsMisses: true }, async (req, res) => {
    const { fields } = await readForm(req, res, {
      maxBytes: MAX_FORM_BYTES,
      tooLarge: () => new RequestError('content_too_large', `Send at most ${MAX_FORM_BYTES} bytes.`),
      budget: api.bodies,
      weight: 1,
    });
    const { delete_token: token } = validate(form, Object.fromEntries(fields));
    const paste = await findEvenHeld(api, req);
    assertNotGone(paste);
    assertMayDeleteByForm(paste, req, token);
    if (!(await requestDeletion(api.db, paste.id))) throw pasteGone(); // another request deleted it meanwhile
    sendPage(res, deletedPage(api.pages.site(req)));
  });
}

/** In words for a form. @throws RequestError unauthorized */
export function assertMayDeleteByForm(paste: PasteRow, req: Request, token: string | undefined): void {
  if (readerOf(paste, req) === 'owner' || isDeleteToken(token, paste.delete_token_hash)) return;
  throw new RequestError(
    'unauthorized',
    'This is not the delete token of the paste. Go back to the paste and enter the token that was shown when the paste was created.',
    { headers: { 'WWW-Authenticate': 'Delete-Token realm="pasteflow"' } },
  );
}
