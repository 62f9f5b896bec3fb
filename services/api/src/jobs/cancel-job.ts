import type { Request, Response } from 'express';
import {
  DependencyUnavailableError,
  isTerminal,
  job,
  JobEndedError,
  JobNotFoundError,
} from '@pasteflow/domain';
import { cancelJob as cancel, findJob, type Actor, type Database, type JobRow } from '@pasteflow/postgres';
import type { ApiContext } from '../context.ts';
import type { RequestEvents } from '../http/server/request-events.ts';
import { jsonAnswer, sendAnswer } from '../http/answers/answer.ts';
import { type Endpoint, pageEndpoint } from '../http/openapi/endpoint.ts';
import { jsonResponse } from '../http/openapi/formats.ts';
import { findErrors, findNamedJobBrief, namedJob } from './find-named-job.ts';
import { isCancelled, jobSchema, viewOf } from './job-view.ts';
import { readEmptyForm } from '../http/body/url-form.ts';
import { goTo } from '../http/pages/page-answers.ts';

/** POST /v1/jobs/:id/cancel (ADR 43). */
export function cancelJob(api: ApiContext): Endpoint {
  return {
    operation: {
      operationId: 'cancelJob',
      tag: 'jobs',
      access: 'user',
      summary: 'Cancels a job that waits or runs.',
      description:
        'The job ends at once: `failed`, or `partial` when it has assets, which stay. Its worker stops within seconds. ' +
        'Cancelling a cancelled job again changes nothing and is answered 200.',
      params: { path: namedJob },
      answers: { 200: jsonResponse('The cancelled job.', jobSchema) },
      errors: [...findErrors, 'job_ended'],
    },
    handle: (req, res) => handle(api, req, res),
  };
}

async function handle(
  { db, idempotency, actor, events }: ApiContext,
  req: Request,
  res: Response,
): Promise<void> {
  const { id: jobId } = await findNamedJobBrief(db, req);
  const claim = await idempotency.claim(req, res, '');
  if (claim === null) return;
  const { answer, ...cancelled } = await claim.commit(async (tx) => {
    const { row, from } = await cancelIn(tx, jobId, actor);
    return { row, from, answer: jsonAnswer(200, viewOf(row)) };
  });
  report(events, req, cancelled);
  sendAnswer(res, answer);
}

interface Cancelled {
  readonly row: JobRow;
  /** The state before; null: the job was cancelled before. */
  readonly from: string | null;
}

/**
 * In a transaction, because an erasure could otherwise remove the job before it is read.
 * @throws JobEndedError, DependencyUnavailableError
 */
async function cancelIn(db: Database, jobId: string, actor: Actor): Promise<Cancelled> {
  if (!db.isTransaction) return await db.transaction().execute((tx) => cancelIn(tx, jobId, actor));
  const from = await cancel(db, { jobId, actor, by: 'its owner' });
  return { from, row: assertCancelled(await findJob(db, jobId)) };
}

function report(events: RequestEvents, req: Request, { row, from }: Cancelled): void {
  if (from !== null) events.jobCancelled(req, { jobType: row.job_type, from, status: row.status });
}

/**
 * @throws JobEndedError when the job ended by itself before
 * @throws DependencyUnavailableError when plain SQL has stranded the job: within a minute the sweep
 *   rescue-stranded makes it cancellable
 */
function assertCancelled(row: JobRow | null): JobRow {
  if (row === null) throw new JobNotFoundError();
  if (!isTerminal(job, row.status)) throw new DependencyUnavailableError('postgres');
  if (!isCancelled(row)) throw new JobEndedError(row.status);
  return row;
}

/** POST /my/jobs/:id/cancel: cancels a job from the form of its page, and goes back to the page. */
export function cancelMyJob({ db, actor, events, bodies, pages }: ApiContext): Endpoint {
  return pageEndpoint({ access: 'user' }, async (req, res) => {
    await readEmptyForm(req, res, bodies);
    const { id } = await findNamedJobBrief(db, req);
    try {
      report(events, req, await cancelIn(db, id, actor));
    } catch (error) {
      if (!(error instanceof JobEndedError)) throw error; // the page shows how the job ended
    }
    goTo(res, `${pages.site(req).base}/my/jobs/${id}`);
  });
}
