import { readdirSync } from 'node:fs';
import type { JobType } from './job-type.ts';

/**
 * Every folder of types/ is a job type: its job-type file exports one. A new type is a new folder, and nothing else changes. The import is
 * computed, so that no list has to be kept; the suffix is that of this very file, .ts in development and .js in dist.
 */
async function loadJobTypes(): Promise<ReadonlyMap<string, JobType>> {
  const suffix = import.meta.url.slice(import.meta.url.lastIndexOf('.'));
  const folder = new URL('./types/', import.meta.url);
  const names = readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [entry.name] : [],
  );
  const types = await Promise.all(
    names.toSorted().map(async (name) => {
      const { jobType } = (await import(new URL(`${name}/job-type${suffix}`, folder).href)) as {
        jobType: JobType;
      };
      if (jobType.name !== name) throw new Error(`the job type ${jobType.name} is in the folder ${name}`);
      return jobType;
    }),
  );
  return new Map(types.map((type) => [type.name, type]));
}

/** By name. */
export const jobTypes: ReadonlyMap<string, JobType> = await loadJobTypes();
