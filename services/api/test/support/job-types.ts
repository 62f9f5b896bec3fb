import { jobTypes as builtIn } from '@pasteflow/jobs';
import { jobTypesOf } from '../../src/job-types.ts';

/** Of an api without job types of an operator's own. */
export const jobTypes = jobTypesOf(builtIn);
