import { JobEndedError } from '@pasteflow/domain';
import type { ApiContext } from '../context.ts';
import { readEmptyForm } from '../http/body/url-form.ts';
import { cancelNamedJob } from './cancel-job.ts';
import { findErrors, findNamedJobBrief, namedJob } from './find-named-job.ts';
import type { Endpoint, Handler } from '../http/openapi/endpoint.ts';
import { formErrors, goTo, redirectOf } from '../http/pages/page-answers.ts';

/** POST /my/jobs/:id/cancel: cancels a job from the form of its page, and goes back to the page. */
export function cancelMyJob(api: ApiContext): Endpoint {
  const cancel: Handler = async (req, res) => {
    await readEmptyForm(req, res, api.bodies);
    const { id } = await findNamedJobBrief(api.db, req);
    try {
      await cancelNamedJob(api, req, id);
    } catch (error) {
      if (!(error instanceof JobEndedError)) throw error; // the page shows how the job ended
    }
    goTo(res, `${api.pages.site(req).base}/my/jobs/${id}`);
  };
  return {
    operation: {
      operationId: 'cancelMyJob',
      tag: 'pages',
      access: 'user',
      summary: 'Cancels a job, from the form of its page.',
      description: 'A job that has ended by itself stays as it is; its page says how it ended.',
      params: { path: namedJob },
      answers: { 303: redirectOf('The job has ended.') },
      errors: [...findErrors, ...formErrors],
    },
    handle: cancel,
    page: cancel,
  };
}
