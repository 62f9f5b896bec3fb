import { takedownClasses } from '@pasteflow/domain';
import { reportPage, reportSentPage } from '@pasteflow/web';
import type { ApiContext } from '../context.ts';
import { readUrlForm } from '../http/body/url-form.ts';
import { validate } from '../http/answers/request-error.ts';
import { sendPage } from '../http/pages/page.ts';
import { type Endpoint, pageEndpoint } from '../http/openapi/endpoint.ts';
import { findReportable, newReportSchema, report } from './report-paste.ts';

/** GET /:short_code/report: the form. It works without JavaScript. */
export function showReportForm(api: ApiContext): Endpoint {
  return pageEndpoint({ access: 'anyone', countsMisses: true }, async (req, res) => {
    const { short_code } = await findReportable(api.db, req);
    sendPage(res, reportPage(api.pages.site(req), { short_code, reasons: takedownClasses }));
  });
}

/** POST /:short_code/report: sends the form. */
export function reportFromForm(api: ApiContext): Endpoint {
  return pageEndpoint({ access: 'anyone', countsMisses: true }, async (req, res) => {
    await report(api, req, res, validate(newReportSchema, await readUrlForm(req, res, api.bodies)));
    sendPage(res, reportSentPage(api.pages.site(req)));
  });
}
