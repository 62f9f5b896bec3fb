import { z } from 'zod';
import { requestDeletion } from '@pasteflow/postgres';
import { deletedPage } from '@pasteflow/web';
import type { ApiContext } from '../context.ts';
import { readForm } from '../http/body/multipart.ts';
import { RequestError, validate } from '../http/answers/request-error.ts';
import type { Endpoint, Handler } from '../http/openapi/endpoint.ts';
import { isDeleteToken } from './delete-paste.ts';
import {
  assertNotGone,
  findErrors,
  findEvenHeld,
  namedPaste,
  pasteGone,
  readerOf,
} from './find-named-paste.ts';
import { example } from './example.ts';
import { sendPage } from '../http/pages/page.ts';

/** A form with one short field. */
const MAX_FORM_BYTES = 8192;

const form = z.strictObject({
  delete_token: z
    .string('must be a text')
    .optional()
    .meta({
      description:
        'The delete_token from the answer that created the paste. The owner of a paste needs none.',
      examples: [example.deleteToken],
    }),
});

/** POST /:short_code/delete: deletes a paste from the form of its page. It works without JavaScript. */
export function deleteFromForm({ db, bodies, pages }: ApiContext): Endpoint {
  const remove: Handler = async (req, res) => {
    const { fields } = await readForm(req, res, {
      maxBytes: MAX_FORM_BYTES,
      tooLarge: () => new RequestError('content_too_large', `Send at most ${MAX_FORM_BYTES} bytes.`),
      budget: bodies,
      weight: 1,
    });
    const { delete_token: token } = validate(form, Object.fromEntries(fields));
    const paste = await findEvenHeld(db, req);
    assertNotGone(paste);
    const isOwn = readerOf(paste, req) === 'owner';
    if (!isOwn && !isDeleteToken(token, paste.delete_token_hash)) throw wrongToken();
    if (!(await requestDeletion(db, paste.id))) throw pasteGone(); // another request deleted it meanwhile
    sendPage(res, deletedPage(pages.site(req)));
  };
  return {
    operation: {
      operationId: 'deletePasteFromForm',
      tag: 'pages',
      access: 'anyone',
      summary: 'Deletes a paste immediately and permanently, from the form of its page.',
      params: { path: namedPaste },
      body: {
        required: true,
        content: {
          'multipart/form-data': { schema: form, example: { delete_token: example.deleteToken } },
        },
      },
      answers: {
        200: { description: 'The paste is deleted.', content: { 'text/html': { schema: z.string() } } },
      },
      errors: [...findErrors, 'content_too_large', 'validation_failed', 'unsupported_encoding', 'overloaded'],
    },
    handle: remove,
    page: remove,
  };
}

function wrongToken(): RequestError {
  return new RequestError(
    'unauthorized',
    'This is not the delete token of the paste. Go back to the paste and enter the token that was shown when the paste was created.',
    { headers: { 'WWW-Authenticate': 'Delete-Token realm="pasteflow"' } },
  );
}
