import { JobNotRetryableError } from '@pasteflow/domain';
import type { ApiContext } from '../context.ts';
import { readEmptyForm } from '../http/body/url-form.ts';
import { dispatchRetry, findRetried, retryIn } from './retry-job.ts';
import { type Endpoint, pageEndpoint } from '../http/openapi/endpoint.ts';
import { goTo } from '../http/pages/page-answers.ts';

/** POST /my/jobs/:id/retry: retries a job from the form of its page, and goes to the page of the new job. */
export function retryMyJob(api: ApiContext): Endpoint {
  return pageEndpoint({ access: 'user' }, async (req, res) => {
    await readEmptyForm(req, res, api.bodies);
    const old = await findRetried(api, req, res);
    const goToJob = (id: string) => goTo(res, `${api.pages.site(req).base}/my/jobs/${id}`);
    try {
      const job = await retryIn(api.db, old, api);
      dispatchRetry(api, req, job);
      goToJob(job.id);
    } catch (error) {
      // The form was sent twice.
      if (!(error instanceof JobNotRetryableError) || error.why.kind !== 'retried') throw error;
      goToJob(error.why.as);
    }
  });
}
