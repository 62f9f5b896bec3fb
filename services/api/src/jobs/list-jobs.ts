import { job, statesOf } from '@pasteflow/domain';
import { mustBeOneOf } from '@pasteflow/service-kit';
import { listJobs as findJobs } from '@pasteflow/postgres';
import { z } from 'zod';
import { exportFormats } from '@pasteflow/jobs';
import { myJobsPage } from '@pasteflow/web';
import type { ApiContext } from '../context.ts';
import { requireUser } from '../http/callers/caller-of.ts';
import { nextCursor, nextCursorOf, pageFields, pageRequestOf } from '../http/request/paging.ts';
import { readQuery } from '../http/request/query.ts';
import { type Endpoint, pageEndpoint } from '../http/openapi/endpoint.ts';
import { jsonResponse } from '../http/openapi/formats.ts';
import { listedJobSchema, viewOfListed, isCancelled } from './job-view.ts';
import type { JobTypes } from '../job-types.ts';
import { sendPage } from '../http/pages/page.ts';

const states = statesOf(job);

const queryOf = ({ names }: JobTypes) =>
  z.strictObject({
    status: z
      .enum(states, mustBeOneOf(states))
      .optional()
      .meta({ description: 'Only jobs in this state.', param: { example: 'completed' } }),
    job_type: z
      .enum(names, mustBeOneOf(names))
      .optional()
      .meta({ description: 'Only jobs of this type.', param: { example: names[0] } }),
    ...pageFields,
  });

const listSchema = z
  .object({ jobs: z.array(listedJobSchema), next_cursor: nextCursor })
  .meta({ id: 'JobList', description: 'A page of jobs, newest first.' });

/** GET /v1/jobs: the caller's jobs. */
export function listJobs({ db, jobTypes }: ApiContext): Endpoint {
  const query = queryOf(jobTypes);
  return {
    operation: {
      operationId: 'listJobs',
      tag: 'jobs',
      access: 'user',
      summary: "Lists the caller's jobs, newest first.",
      params: { query },
      answers: { 200: jsonResponse('A page of jobs.', listSchema) },
      errors: ['validation_failed', 'dependency_unavailable'],
    },
    handle: async (req, res) => {
      const { status = null, job_type: jobType = null, ...page } = readQuery(req, query);
      const found = await findJobs(db, { userId: requireUser(req), status, jobType }, pageRequestOf(page));
      res.json({
        jobs: found.rows.map(viewOfListed),
        next_cursor: nextCursorOf(found),
      } satisfies z.output<typeof listSchema>);
    },
  };
}

const PAGE_SIZE = 50;

/** A form sends an empty text for a field that is not used. */
const pageQueryOf = ({ names }: JobTypes) =>
  z.strictObject({
    status: z.enum(['', ...states], mustBeOneOf(states)).optional(),
    job_type: z.enum(['', ...names], mustBeOneOf(names)).optional(),
    cursor: pageFields.cursor,
  });

/** GET /my/jobs: the user's jobs, newest first, and the forms that start one. */
export function myJobs({ db, pages, jobTypes, maxPasteBytes }: ApiContext): Endpoint {
  const pageQuery = pageQueryOf(jobTypes);
  return pageEndpoint({ access: 'user' }, async (req, res) => {
    const { status: state, job_type: type, cursor } = readQuery(req, pageQuery);
    const status = state === undefined || state === '' ? null : state;
    const jobType = type === undefined || type === '' ? null : type;
    const filter = { userId: requireUser(req), status, jobType };
    const found = await findJobs(db, filter, pageRequestOf({ limit: PAGE_SIZE, cursor }));
    sendPage(
      res,
      myJobsPage(pages.site(req), {
        jobs: found.rows.map((row) => ({ ...viewOfListed(row), isCancelled: isCancelled(row) })),
        status,
        jobType,
        isFirst: cursor === undefined,
        next: nextCursorOf(found),
        jobTypes: jobTypes.names,
        exportFormats,
        maxFileBytes: maxPasteBytes,
      }),
    );
  });
}
