import { z } from 'zod';
import { requestDeletion } from '@pasteflow/postgres';
import { deletedPage } from '@pasteflow/web';
import type { ApiContext } from '../context.ts';
import { readForm } from '../http/body/multipart.ts';
import { RequestError, validate } from '../http/answers/request-error.ts';
import { type Endpoint, pageEndpoint } from '../http/openapi/endpoint.ts';
import { isDeleteToken } from './delete-paste.ts';
import { assertNotGone, findEvenHeld, pasteGone, readerOf } from './find-named-paste.ts';
import { sendPage } from '../http/pages/page.ts';

/** A form with one short field. */
const MAX_FORM_BYTES = 8192;

const form = z.strictObject({
  delete_token: z.string('must be a text').optional(),
});

/** POST /:short_code/delete: deletes a paste from the form of its page. It works without JavaScript. */
export function deleteFromForm({ db, bodies, pages }: ApiContext): Endpoint {
  return pageEndpoint({ access: 'anyone', countsMisses: true }, async (req, res) => {
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
  });
}

function wrongToken(): RequestError {
  return new RequestError(
    'unauthorized',
    'This is not the delete token of the paste. Go back to the paste and enter the token that was shown when the paste was created.',
    { headers: { 'WWW-Authenticate': 'Delete-Token realm="pasteflow"' } },
  );
}
