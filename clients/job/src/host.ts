// What the services run job types with. No part of the package @pasteflow/job.
export { checkJobTypes, JobTypeProblem, messageOf } from './check-job-types.ts';
export { runJobType } from './run-job-type.ts';
