import type { ApiContext } from '../context.ts';
import type { Routes } from '../http/openapi/endpoint.ts';
import { reportFromForm, showReportForm } from './report-form.ts';
import { reportPaste } from './report-paste.ts';

export const reportRoutes = (api: ApiContext): Routes => ({
  '/v1/pastes/:short_code/reports': { POST: reportPaste(api) },
  '/:short_code/report': { GET: showReportForm(api), POST: reportFromForm(api) },
});
