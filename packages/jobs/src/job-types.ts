import type { JobType } from './job-type.ts';
import { exportJob } from './types/export/export-job.ts';
import { importJob } from './types/import/import-job.ts';

/** Every job type of Pasteflow. A new one is a folder in types/ and an entry here. */
const all: readonly JobType[] = [exportJob, importJob];

/** The job types by name. */
export const jobTypes: ReadonlyMap<string, JobType> = new Map(all.map((type) => [type.name, type]));
