import { addJobType } from '@pasteflow/jobs';
import { z } from 'zod';
import { fetchFeeds } from './fetch-feeds.ts';

const feeds = z.record(z.string().regex(/^[a-z0-9-]{1,40}$/), z.url({ protocol: /^https?$/ }));

/** @param list the setting FEEDS: the operator's feeds as JSON */
export function addFetchFeeds(list: string | undefined): void {
  if (list === undefined)
    throw new Error('Set FEEDS, for example to {"news":"https://example.com/feed.xml"}.');
  addJobType(fetchFeeds(feeds.parse(JSON.parse(list))));
}
