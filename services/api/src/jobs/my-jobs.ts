import { job, statesOf } from '@pasteflow/domain';
import { mustBeOneOf } from '@pasteflow/service-kit';
import { exportFormats } from '@pasteflow/jobs';
import { listJobs } from '@pasteflow/postgres';
import { myJobsPage } from '@pasteflow/web';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { nextCursorOf, pageFields, pageRequestOf } from '../http/request/paging.ts';
import { readQuery } from '../http/request/query.ts';
import { requireUser } from '../http/callers/caller-of.ts';
import { isCancelled, viewOfListed } from './job-view.ts';
import { jobTypeNames } from './new-job.ts';
import { type Endpoint, pageEndpoint } from '../http/openapi/endpoint.ts';
import { sendPage } from '../http/pages/page.ts';

const PAGE_SIZE = 50;

const states = statesOf(job);

/** A form sends an empty text for a field that is not used. */
const query = z.strictObject({
  status: z.enum(['', ...states], mustBeOneOf(states)).optional(),
  job_type: z.enum(['', ...jobTypeNames], mustBeOneOf(jobTypeNames)).optional(),
  cursor: pageFields.cursor,
});

/** GET /my/jobs: the user's jobs, newest first, and the forms that start one. */
export function myJobs({ db, pages, maxPasteBytes }: ApiContext): Endpoint {
  return pageEndpoint({ access: 'user' }, async (req, res) => {
    const { status: state, job_type: type, cursor } = readQuery(req, query);
    const status = state === undefined || state === '' ? null : state;
    const jobType = type === undefined || type === '' ? null : type;
    const filter = { userId: requireUser(req), status, jobType };
    const found = await listJobs(db, filter, pageRequestOf({ limit: PAGE_SIZE, cursor }));
    sendPage(
      res,
      myJobsPage(pages.site(req), {
        jobs: found.rows.map((row) => ({ ...viewOfListed(row), isCancelled: isCancelled(row) })),
        status,
        jobType,
        isFirst: cursor === undefined,
        next: nextCursorOf(found),
        jobTypes: jobTypeNames,
        exportFormats,
        maxFileBytes: maxPasteBytes,
      }),
    );
  });
}
