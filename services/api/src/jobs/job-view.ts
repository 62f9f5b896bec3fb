import { job, parseJobReason, statesOf, textForOwner } from '@pasteflow/domain';
import type { JobRow, ListedJob } from '@pasteflow/postgres';
import { z } from 'zod';
import { instant, uuid } from '../http/openapi/formats.ts';

/** The one job that the document's examples speak of; the tests make it and ask for it. */
export const example = {
  id: '019aa5b2-7c00-7b6e-9c3d-5f2a1e8d4c70',
  assetId: '019aa5b2-9f10-7c41-8a2b-3d4e5f607182',
  createdAt: new Date('2026-11-21T12:00:00Z'),
  completedAt: new Date('2026-11-21T12:00:09Z'),
} as const;

/** A job in a list. */
export const listedJobSchema = z
  .object({
    id: uuid,
    job_type: z.string(),
    title: z
      .string()
      .nullable()
      .meta({ description: 'What the client called the job, such as the name of a file; null: nothing.' }),
    status: z.enum(statesOf(job)),
    progress: z.int().min(0).max(100).meta({ description: 'In per cent.' }),
    progress_message: z.string().nullable(),
    error_message: z
      .string()
      .nullable()
      .meta({ description: 'Why the job, or a part of it, failed. Only failed and partial jobs have one.' }),
    created_at: instant,
    updated_at: instant,
    completed_at: instant
      .nullable()
      .meta({ description: 'When the job became completed, partial or failed.' }),
    retry_of: uuid.nullable().meta({ description: 'The job that this one retries; null: none.' }),
    retried_as: uuid.nullable().meta({ description: 'The job that retries this one; null: none.' }),
  })
  .meta({
    id: 'ListedJob',
    description: 'A job without its parameters and its result, which may be long.',
    examples: [exampleListed()],
  });

export const jobSchema = listedJobSchema
  .extend({
    parameters: z.record(z.string(), z.unknown()).meta({
      description: 'The parameters, with their defaults, but without content: not the items of an import.',
    }),
    result: z.record(z.string(), z.unknown()).nullable().meta({
      description:
        'What the job did. The fields depend on job_type. A job that ended before it was complete has assets and positions.',
    }),
  })
  .meta({ id: 'Job', description: 'A job.', examples: [exampleJob()] });

export type JobView = Readonly<z.output<typeof jobSchema>>;
export type ListedJobView = Readonly<z.output<typeof listedJobSchema>>;

export function viewOfListed(row: Omit<ListedJob, 'place' | 'user_id'>): ListedJobView {
  return {
    id: row.id,
    job_type: row.job_type,
    title: row.title,
    status: row.status,
    progress: row.progress,
    progress_message: row.progress_message,
    error_message: row.error_message === null ? null : errorMessageOf(row.error_message),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    completed_at: row.completed_at?.toISOString() ?? null,
    retry_of: row.retry_of,
    retried_as: row.retried_as,
  };
}

export function viewOf(row: Omit<JobRow, 'user_id'>): JobView {
  return { ...viewOfListed(row), parameters: row.parameters, result: row.result };
}

/** Never an error of the service in its own words, which may name hosts and modules. */
function errorMessageOf(stored: string): string | null {
  const reason = parseJobReason(stored);
  if (reason.class !== 'internal') return textForOwner(reason);
  return 'An internal error of the service. Create the job again; if the error persists, report the id of the job.';
}

/** Whether somebody cancelled the job, which then is `failed`, or `partial` when it has made something. */
export function isCancelled({ error_message: message }: Pick<JobRow, 'error_message'>): boolean {
  return message !== null && parseJobReason(message).class === 'cancelled';
}

function exampleJob(): object {
  return viewOf(exampleRow());
}

function exampleListed(): object {
  return viewOfListed(exampleRow());
}

function exampleRow(): Omit<JobRow, 'user_id'> {
  return {
    id: example.id,
    job_type: 'export',
    title: null,
    status: 'completed',
    progress: 100,
    progress_message: null,
    error_message: null,
    parameters: {},
    result: {},
    created_at: example.createdAt,
    updated_at: example.completedAt,
    completed_at: example.completedAt,
    retry_of: null,
    retried_as: null,
    had_content: false,
  };
}
