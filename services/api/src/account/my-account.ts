import { exportFormats } from '@pasteflow/jobs';
import { eraseUser, isErased } from '@pasteflow/postgres';
import { accountErasedPage, myAccountPage } from '@pasteflow/web';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { readUrlForm } from '../http/body/url-form.ts';
import { RequestError, validate } from '../http/answers/request-error.ts';
import { contextOf } from '../http/request/request-context.ts';
import { sessionEnded } from '../http/callers/authorization.ts';
import { hashOfCaller, isFull, requireFull, requireUser, namesOfUser } from '../http/callers/caller-of.ts';
import { personOf } from '../http/callers/person.ts';
import { type Endpoint, pageEndpoint, type Routes } from '../http/openapi/endpoint.ts';
import { sendPage } from '../http/pages/page.ts';
import { forgetUser } from '../http/pages/page-answers.ts';
import { readUsage } from './read-usage.ts';

/** GET /my/account: the name of the user, an export, and the erasure. */
function myAccount({ db, pages }: ApiContext): Endpoint {
  return pageEndpoint({ access: 'user' }, async (req, res) => {
    const person = personOf(await namesOfUser(db, requireUser(req)));
    sendPage(res, myAccountPage(pages.site(req), { person, exportFormats, canErase: isFull(req) }));
  });
}

const form = z.strictObject({
  name: z.string(),
});

/** POST /my/account/erase: begins the erasure of the user. */
function eraseMyAccount({ db, pages, bodies, sessions }: ApiContext): Endpoint {
  return pageEndpoint({ access: 'user' }, async (req, res) => {
    const userId = requireUser(req);
    requireFull(req);
    const { name } = validate(form, await readUrlForm(req, res, bodies));
    const person = personOf(await namesOfUser(db, userId));
    if (name !== person.name) {
      const message = 'is not your name; type it exactly as the page shows it';
      contextOf(req).refusedForm = () =>
        myAccountPage(pages.site(req), { person, exportFormats, isRefused: true });
      throw new RequestError('validation_failed', `The name ${message}. Nothing was deleted.`, {
        errors: [{ path: 'name', message }],
      });
    }
    // While the form came, its token or session may have ended, or another request may have erased the user.
    if (!(await eraseUser(db, userId, hashOfCaller(req))) && !(await isErased(db, userId)))
      throw sessionEnded();
    const site = pages.site(req);
    forgetUser(res, sessions, site.base);
    sendPage(res, accountErasedPage({ ...site, viewer: null }));
  });
}

export const accountRoutes = (api: ApiContext): Routes => ({
  '/v1/usage': { GET: readUsage(api) },
  '/my/account': { GET: myAccount(api) },
  '/my/account/erase': { POST: eraseMyAccount(api) },
});
