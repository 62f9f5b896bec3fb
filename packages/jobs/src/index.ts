export {
  defineJobType,
  type JobContext,
  type JobEnding,
  type JobServices,
  type JobType,
  type NewUpload,
} from './definition/job-type.ts';
export { WorkFailedError, WorkYieldedError } from './definition/work-failed.ts';
export { addJobType, jobTypes } from './job-types.ts';
export { exportFormats } from './types/export/formats/archive-formats.ts';
