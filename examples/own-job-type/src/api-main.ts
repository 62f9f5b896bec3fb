import { addFetchFeeds } from './add-job-type.ts';

addFetchFeeds(process.env.FEEDS);
await import('@pasteflow/api/main'); // only now: the service reads the list of job types when it loads
