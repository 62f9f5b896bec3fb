import { UPLOADS } from '@pasteflow/postgres';
import type { JobType } from './job-type.ts';
import { exportJob } from './types/export/export-job.ts';
import { importJob } from './types/import/import-job.ts';

/** Every job type. A new one is a folder in types/ and an entry here. */
const all: readonly JobType[] = [exportJob, importJob];

const byName = new Map(all.map((type) => [type.name, type]));

/** The job types by name. */
export const jobTypes: ReadonlyMap<string, JobType> = byName;

/**
 * Adds a job type of an operator's own to this process. Call it before the service is loaded: the api makes
 * its schemas from `jobTypes` when it loads. `examples/own-job-type` is the model.
 */
export function addJobType(type: JobType): void {
  if (byName.has(type.name)) throw new Error(`There already is a job type '${type.name}'.`);
  if (type.name === UPLOADS)
    throw new Error(`A job type cannot be called '${UPLOADS}': operators pause uploads by this name.`);
  byName.set(type.name, type);
}
