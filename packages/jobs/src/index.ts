export {
  defineJobType,
  type JobContext,
  type JobEnding,
  type JobLogger,
  type JobResult,
  type JobServices,
  type JobType,
  type NewJobAsset,
  type NewUpload,
} from './definition/job-type.ts';
export { jobTypes } from './job-types.ts';
