import type { JobType } from '@pasteflow/jobs';
import { mustBeOneOf } from '@pasteflow/service-kit';
import { z } from 'zod';

export interface NewJob {
  readonly job_type: string;
  readonly title?: string | undefined;
  readonly parameters: object;
}

/** The job types that this process takes, and the schema of a new job. */
export interface JobTypes {
  readonly byName: ReadonlyMap<string, JobType>;
  readonly names: readonly string[];
  /** One of the job types, distinguished by job_type. */
  readonly newJobSchema: z.ZodType<NewJob>;
}

export function jobTypesOf(byName: ReadonlyMap<string, JobType>): JobTypes {
  const names = [...byName.keys()];
  return { byName, names, newJobSchema: unionOf(names, [...byName.values()].map(newJobOf)) };
}

/** Of the lists of jobs. A name of a file has at most 255 bytes. */
const title = z
  .string('must be a text')
  .min(1, 'must not be empty')
  .max(255, 'must have at most 255 characters')
  .optional()
  .meta({ description: 'What lists of jobs call it, such as the name of the file of an import.' });

function newJobOf({ name, summary, parameters }: JobType) {
  const words = name.split('-').map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`);
  return z
    .strictObject({ job_type: z.literal(name), title, parameters: parameters as z.ZodType<object> })
    .meta({ id: `New${words.join('')}Job`, description: summary });
}

function unionOf(
  names: readonly string[],
  [first, ...rest]: readonly ReturnType<typeof newJobOf>[],
): z.ZodType<NewJob> {
  if (first === undefined) throw new Error('No job type is listed.');
  return z.discriminatedUnion('job_type', [first, ...rest], {
    error: ({ code }) => (code === 'invalid_union' ? mustBeOneOf(names) : 'must be a JSON object'),
  });
}
