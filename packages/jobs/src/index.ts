export {
  defineJobType,
  WorkFailedError,
  WorkYieldedError,
  type JobContext,
  type JobEnding,
  type JobServices,
  type JobType,
  type NewUpload,
} from './job-type.ts';
export { jobTypes } from './job-types.ts';
export { loadJobTypes } from './own/load-job-types.ts';
export { exportFormats } from './types/export/archive-formats.ts';
export { importErrors } from './types/import/parameters.ts';
export { zipBytesOf, zipFiles } from './zip-files.ts';
