import { isShortCode } from '@pasteflow/domain';
import { requestDeletions, findOwnPastes } from '@pasteflow/postgres';
import { confirmDeletionPage } from '@pasteflow/web';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { readUrlForm } from '../http/body/url-form.ts';
import { validate } from '../http/answers/request-error.ts';
import { requireUser } from '../http/callers/caller-of.ts';
import { type Endpoint, pageEndpoint } from '../http/openapi/endpoint.ts';
import { sendPage } from '../http/pages/page.ts';
import { goTo } from '../http/pages/page-answers.ts';

const shortCode = z.string().refine(isShortCode, 'must be a short code');
const form = z.strictObject({
  // A form with one value is the same on the wire whether the field is a text or a list.
  short_code: z.union([
    shortCode,
    z.array(shortCode).min(1, 'is missing; select at least one paste').max(100, 'must be at most 100 pastes'),
  ]),
  confirmed: z.literal('yes').optional(),
});

/** POST /my/pastes/delete: asks, and then deletes pastes of the user. */
export function deleteMyPastes(api: ApiContext): Endpoint {
  return pageEndpoint({ access: 'user' }, async (req, res) => {
    const userId = requireUser(req);
    const fields = await readUrlForm(req, res, api.bodies, ['short_code']);
    const { short_code, confirmed } = validate(form, fields);
    const shortCodes = [short_code].flat();
    const site = api.pages.site(req);
    if (confirmed === 'yes') {
      const deleted = await requestDeletions(api.db, { userId, shortCodes });
      goTo(res, `${site.base}/my/pastes?deleted=${deleted}`);
    } else {
      sendPage(res, confirmDeletionPage(site, await findOwnPastes(api.db, { userId, shortCodes })));
    }
  });
}
