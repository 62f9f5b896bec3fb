import { JobEndedError } from '@pasteflow/domain';
import type { ApiContext } from '../context.ts';
import { readEmptyForm } from '../http/body/url-form.ts';
import { cancelNamedJob } from './cancel-job.ts';
import { findNamedJobBrief } from './find-named-job.ts';
import { type Endpoint, pageEndpoint } from '../http/openapi/endpoint.ts';
import { goTo } from '../http/pages/page-answers.ts';

/** POST /my/jobs/:id/cancel: cancels a job from the form of its page, and goes back to the page. */
export function cancelMyJob(api: ApiContext): Endpoint {
  return pageEndpoint({ access: 'user' }, async (req, res) => {
    await readEmptyForm(req, res, api.bodies);
    const { id } = await findNamedJobBrief(api.db, req);
    try {
      await cancelNamedJob(api, req, id);
    } catch (error) {
      if (!(error instanceof JobEndedError)) throw error; // the page shows how the job ended
    }
    goTo(res, `${api.pages.site(req).base}/my/jobs/${id}`);
  });
}
