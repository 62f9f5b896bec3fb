import type { Job } from '../../src/index.ts';

export const JOB_ID = '019aa5b2-7c00-7b6e-9c3d-5f2a1e8d4c70';

/** A job as the api returns it. */
export function jobWith(fields: Partial<Job>): Job {
  return {
    id: JOB_ID,
    job_type: 'export',
    title: null,
    status: 'queued',
    progress: 0,
    progress_message: null,
    error_message: null,
    parameters: {},
    result: null,
    created_at: '2026-11-21T12:00:00.000Z',
    updated_at: '2026-11-21T12:00:00.000Z',
    completed_at: null,
    retry_of: null,
    retried_as: null,
    ...fields,
  };
}
