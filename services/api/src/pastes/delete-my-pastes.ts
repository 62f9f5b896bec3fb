import { isShortCode } from '@pasteflow/domain';
import { requestDeletions, findOwnPastes } from '@pasteflow/postgres';
import { confirmDeletionPage } from '@pasteflow/web';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { readUrlForm } from '../http/body/url-form.ts';
import { validate } from '../http/answers/request-error.ts';
import { requireUser } from '../http/callers/caller-of.ts';
import type { Endpoint, Handler } from '../http/openapi/endpoint.ts';
import { example } from './example.ts';
import { sendPage } from '../http/pages/page.ts';
import { formErrors, goTo, pageOf, redirectOf } from '../http/pages/page-answers.ts';

const shortCode = z.string().refine(isShortCode, 'must be a short code');
const form = z.strictObject({
  // A form with one value is the same on the wire whether the field is a text or a list.
  short_code: z
    .union([
      shortCode,
      z
        .array(shortCode)
        .min(1, 'is missing; select at least one paste')
        .max(100, 'must be at most 100 pastes'),
    ])
    .meta({ description: 'The pastes; the field is repeated for each.' }),
  confirmed: z.literal('yes').optional().meta({ description: 'Without it, a page asks first.' }),
});

/** POST /my/pastes/delete: asks, and then deletes pastes of the user. */
export function deleteMyPastes(api: ApiContext): Endpoint {
  const remove: Handler = async (req, res) => {
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
  };
  return {
    operation: {
      operationId: 'deleteMyPastes',
      tag: 'pages',
      access: 'user',
      summary: 'Deletes pastes of the user immediately and permanently, from the form of the page.',
      body: {
        required: true,
        content: {
          'application/x-www-form-urlencoded': { schema: form, example: { short_code: [example.shortCode] } },
        },
      },
      answers: {
        200: pageOf('The page that asks.'),
        303: redirectOf('Those of the pastes that belong to the user are deleted.'),
      },
      errors: [...formErrors, 'dependency_unavailable'],
    },
    handle: remove,
    page: remove,
  };
}
