import { ownPath } from '@pasteflow/http-kit';
import { languageNames } from '@pasteflow/web';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { readUrlForm } from '../http/body/url-form.ts';
import { validate } from '../http/answers/request-error.ts';
import { LANGUAGE_COOKIE } from '../http/pages/page.ts';
import { type Endpoint, pageEndpoint } from '../http/openapi/endpoint.ts';
import { goTo } from '../http/pages/page-answers.ts';

const form = z.strictObject({
  language: z.enum(languageNames.map(({ locale }) => locale)),
  next: z.string(),
});

/**
 * POST /language: the browser keeps the language of the pages for a year. Links of other sites send the cookie,
 * so that their page is in the language, too.
 */
export function chooseLanguage({ sessions, bodies, pages }: ApiContext): Endpoint {
  return pageEndpoint({ access: 'anyone', ignoresSession: true }, async (req, res) => {
    const { language, next } = validate(form, await readUrlForm(req, res, bodies));
    const { base } = pages.site(req);
    res.set('Set-Cookie', sessions.cookie(LANGUAGE_COOKIE, language, 'SameSite=Lax; Max-Age=31536000'));
    goTo(res, ownPath(next, base, `${base}/`));
  });
}
