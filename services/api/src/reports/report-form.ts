import { takedownClasses } from '@pasteflow/domain';
import { reportPage, reportSentPage } from '@pasteflow/web';
import type { ApiContext } from '../context.ts';
import { readUrlForm } from '../http/body/url-form.ts';
import { validate } from '../http/answers/request-error.ts';
import { sendPage } from '../http/pages/page.ts';
import type { Endpoint, Handler } from '../http/openapi/endpoint.ts';
import { namedPaste } from '../pastes/find-named-paste.ts';
import { findReportable, newReportSchema, report, reportErrors } from './report-paste.ts';
import { pageOf } from '../http/pages/page-answers.ts';

/** GET /:short_code/report: the form. It works without JavaScript. */
export function showReportForm(api: ApiContext): Endpoint {
  const show: Handler = async (req, res) => {
    const { short_code } = await findReportable(api.db, req);
    sendPage(res, reportPage(api.pages.site(req), { short_code, reasons: takedownClasses }));
  };
  return {
    operation: {
      operationId: 'showReportForm',
      tag: 'pages',
      access: 'anyone',
      summary: 'The form that asks the operators to take a paste down.',
      params: { path: namedPaste },
      answers: { 200: pageOf('The form.') },
      errors: ['paste_not_found', 'paste_gone', 'paste_taken_down', 'dependency_unavailable'],
    },
    handle: show,
    page: show,
  };
}

/** POST /:short_code/report: sends the form. */
export function reportFromForm(api: ApiContext): Endpoint {
  const send: Handler = async (req, res) => {
    await report(api, req, res, validate(newReportSchema, await readUrlForm(req, res, api.bodies)));
    sendPage(res, reportSentPage(api.pages.site(req)));
  };
  return {
    operation: {
      operationId: 'reportPasteFromForm',
      tag: 'pages',
      access: 'anyone',
      summary: 'Asks the operators to take a paste down, from the form of its page.',
      params: { path: namedPaste },
      body: {
        required: true,
        content: {
          'application/x-www-form-urlencoded': { schema: newReportSchema, example: { reason: 'phishing' } },
        },
      },
      answers: { 200: pageOf('The report is recorded.') },
      errors: reportErrors,
    },
    handle: send,
    page: send,
  };
}
