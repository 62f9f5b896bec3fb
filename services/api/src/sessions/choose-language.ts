import { ownPath } from '@pasteflow/http-kit';
import { languageNames } from '@pasteflow/web';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { readUrlForm } from '../http/body/url-form.ts';
import { validate } from '../http/answers/request-error.ts';
import { LANGUAGE_COOKIE } from '../http/pages/page.ts';
import type { Endpoint, Handler } from '../http/openapi/endpoint.ts';
import { formErrors, goTo, redirectOf } from '../http/pages/page-answers.ts';

const form = z.strictObject({
  language: z
    .enum(languageNames.map(({ locale }) => locale))
    .meta({ description: 'A language of the pages.' }),
  next: z.string().meta({ description: 'The path of the page to show afterwards.' }),
});

const languageCookie = z
  .string()
  .meta({ header: { description: 'The cookie with the language, for a year. It is HttpOnly.' } });

/**
 * POST /language: the browser keeps the language of the pages for a year. Links of other sites send the cookie,
 * so that their page is in the language, too.
 */
export function chooseLanguage({ sessions, bodies, pages }: ApiContext): Endpoint {
  const choose: Handler = async (req, res) => {
    const { language, next } = validate(form, await readUrlForm(req, res, bodies));
    const { base } = pages.site(req);
    res.set('Set-Cookie', sessions.cookie(LANGUAGE_COOKIE, language, 'SameSite=Lax; Max-Age=31536000'));
    goTo(res, ownPath(next, base, `${base}/`));
  };
  return {
    operation: {
      operationId: 'chooseLanguage',
      tag: 'pages',
      access: 'anyone',
      ignoresSession: true, // also with one that has ended
      summary: 'Sets the language of the pages, from the form of a page.',
      body: {
        required: true,
        content: {
          'application/x-www-form-urlencoded': { schema: form, example: { language: 'de', next: '/' } },
        },
      },
      answers: { 303: redirectOf('The pages are in the language.', { 'Set-Cookie': languageCookie }) },
      errors: formErrors,
    },
    handle: choose,
    page: choose,
  };
}
