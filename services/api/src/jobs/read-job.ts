import { isTerminal, job } from '@pasteflow/domain';
import {
  readJobTimeline as findTimeline,
  findOwnPastes,
  findRetryRefusal,
  listAssets,
} from '@pasteflow/postgres';
import { myJobPage } from '@pasteflow/web';
import type { ApiContext } from '../context.ts';
import {
  lastEventId,
  preferenceApplied,
  preferWait,
  streamAnswers,
  streamDescription,
} from '../live/live-documents.ts';
import { readWaiting } from '../live/read-waiting.ts';
import { type Endpoint, pageEndpoint } from '../http/openapi/endpoint.ts';
import { jsonResponse } from '../http/openapi/formats.ts';
import { findErrors, findNamedJob, findNamedJobBrief, namedJob } from './find-named-job.ts';
import { jobSchema, viewOf, isCancelled } from './job-view.ts';
import { timelineSchema, viewOfTimeline } from '../live/timeline-view.ts';
import { openStream } from '../live/event-stream.ts';
import { viewOfAsset } from './list-assets.ts';
import { requireUser } from '../http/callers/caller-of.ts';
import { sendPage } from '../http/pages/page.ts';

/**
 * GET /v1/jobs/:id: the progress and the result of a job. With `Prefer: wait`, the answer waits until the job
 * has ended.
 */
export function readJob({ db, live }: ApiContext): Endpoint {
  return {
    operation: {
      operationId: 'readJob',
      tag: 'jobs',
      access: 'user',
      summary: 'Reads a job: its status, its progress and its result.',
      params: { path: namedJob, header: preferWait },
      answers: {
        200: jsonResponse('The job.', jobSchema, { 'Preference-Applied': preferenceApplied }),
      },
      errors: findErrors,
    },
    handle: async (req, res) => {
      const found = await readWaiting(live, req, res, {
        kind: 'job',
        find: () => findNamedJob(db, req),
        isSettled: ({ status }) => isTerminal(job, status),
      });
      if (found !== null) res.json(viewOf(found));
    },
  };
}

/** GET /v1/jobs/:id/timeline: the transitions of a job and of its executions, oldest first. */
export function readJobTimeline({ db }: ApiContext): Endpoint {
  return {
    operation: {
      operationId: 'readJobTimeline',
      tag: 'jobs',
      access: 'user',
      summary: 'Reads the timeline of a job: its transitions and its executions.',
      params: { path: namedJob },
      answers: { 200: jsonResponse('The timeline.', timelineSchema) },
      errors: findErrors,
    },
    handle: async (req, res) => {
      const { id } = await findNamedJobBrief(db, req);
      res.json(viewOfTimeline(await findTimeline(db, id), 'owner'));
    },
  };
}

/** GET /v1/jobs/:id/events: the events of a job until its end, as they happen. */
export function jobEvents({ db, live }: ApiContext): Endpoint {
  return {
    operation: {
      operationId: 'streamJobEvents',
      tag: 'jobs',
      access: 'user',
      summary: 'Streams the events of a job until its end.',
      description: streamDescription,
      params: { path: namedJob, header: lastEventId },
      answers: streamAnswers,
      errors: [...findErrors, 'stream_unavailable'],
    },
    handle: (req, res) =>
      openStream(live, req, res, async () => {
        const { id, status } = await findNamedJobBrief(db, req);
        return { kind: 'job', id, settled: isTerminal(job, status), audience: 'owner' };
      }),
  };
}

/** Of an import, which may have 10,000. The list of pastes has them, too. */
const SHOWN_PASTES = 100;

/** Of any other job all: 2.5 TB of an export. */
const SHOWN_ARCHIVES = 10_000;

/** GET /my/jobs/:id: the progress of a job, and what it did. */
export function myJob(api: ApiContext): Endpoint {
  const { db, pages } = api;
  return pageEndpoint({ access: 'user' }, async (req, res) => {
    const job = await findNamedJob(db, req);
    const limit = job.job_type === 'import' ? SHOWN_PASTES : SHOWN_ARCHIVES;
    const assets = await listAssets(db, job.id, { limit, after: null });
    const shown = await Promise.all(assets.rows.map((asset) => viewOfAsset(asset, job.job_type, api)));
    const shortCodes = shown.filter(({ asset_type }) => asset_type === 'paste').map(({ url }) => codeOf(url));
    const pastes = await findOwnPastes(db, { userId: requireUser(req), shortCodes });
    const made = new Map(pastes.map((paste) => [paste.short_code, paste]));
    sendPage(
      res,
      myJobPage(pages.site(req), {
        ...viewOf(job),
        isCancelled: isCancelled(job),
        assets: shown.map((asset) => {
          const paste = made.get(codeOf(asset.url));
          return { ...asset, title: paste?.title ?? null, fileCount: paste?.files?.length ?? null };
        }),
        hasMoreAssets: assets.next !== null,
        canRetry: job.completed_at !== null && (await findRetryRefusal(db, job.id)) === null,
      }),
      { 'Cache-Control': 'private, no-store, no-transform' }, // the URL of an archive is a secret
    );
  });
}

/** The URL of a paste ends with its short code. */
function codeOf(url: string): string {
  return url.split('/').at(-1) ?? '';
}
