import { exportFormats } from '@pasteflow/jobs';
import { mustBeOneOf } from '@pasteflow/service-kit';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { readUrlForm } from '../http/body/url-form.ts';
import { validate } from '../http/answers/request-error.ts';
import { contextOf, messageContextOf } from '../http/request/request-context.ts';
import { requireUser } from '../http/callers/caller-of.ts';
import { insertJob } from './new-job.ts';
import { type Endpoint, pageEndpoint } from '../http/openapi/endpoint.ts';
import { goTo } from '../http/pages/page-answers.ts';

const form = z.strictObject({
  format: z.enum(exportFormats, mustBeOneOf(exportFormats)),
});

/** POST /my/jobs/export: starts an export of the user's pastes. */
export function startExport(api: ApiContext): Endpoint {
  return pageEndpoint({ access: 'user' }, async (req, res) => {
    const userId = requireUser(req);
    const parameters = validate(form, await readUrlForm(req, res, api.bodies));
    const job = await insertJob(api.db, userId, { job_type: 'export', parameters }, api.jobLimits);
    const context = contextOf(req);
    context.jobId = job.id;
    api.jobDispatcher.dispatch({
      executionId: job.executionId,
      jobId: job.id,
      context: messageContextOf(context),
    });
    goTo(res, `${api.pages.site(req).base}/my/jobs/${job.id}`);
  });
}
