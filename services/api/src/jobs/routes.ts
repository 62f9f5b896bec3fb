import type { ApiContext } from '../context.ts';
import type { Routes } from '../http/openapi/endpoint.ts';
import { cancelJob, cancelMyJob } from './cancel-job.ts';
import { createJob } from './create-job.ts';
import { listAssets } from './list-assets.ts';
import { listJobs, myJobs } from './list-jobs.ts';
import { myJob, jobEvents, readJob, readJobTimeline } from './read-job.ts';
import { retryJob, retryMyJob } from './retry-job.ts';
import { startExport, startImport } from './start-jobs.ts';

export const jobRoutes = (api: ApiContext): Routes => ({
  '/v1/jobs': { GET: listJobs(api), POST: createJob(api) },
  '/v1/jobs/:id': { GET: readJob(api) },
  '/v1/jobs/:id/cancel': { POST: cancelJob(api) },
  '/v1/jobs/:id/retry': { POST: retryJob(api) },
  '/v1/jobs/:id/assets': { GET: listAssets(api) },
  '/v1/jobs/:id/timeline': { GET: readJobTimeline(api) },
  '/v1/jobs/:id/events': { GET: jobEvents(api) },
  '/my/jobs': { GET: myJobs(api) },
  '/my/jobs/import': { POST: startImport(api) },
  '/my/jobs/export': { POST: startExport(api) },
  '/my/jobs/:id': { GET: myJob(api) },
  '/my/jobs/:id/cancel': { POST: cancelMyJob(api) },
  '/my/jobs/:id/retry': { POST: retryMyJob(api) },
});
