import { describe, expect, it } from '@jest/globals';
import type { Asset } from '../src/index.ts';
import { JOB_ID, jobWith } from './support/job.ts';
import { pasteWith } from './support/paste.ts';
import { json, reset } from './support/scripted-server.ts';
import { useServer } from './support/server.ts';

const bed = useServer();
const paths = (): string[] => bed.server.requests.map(({ path }) => path);

const page = (codes: string[], next_cursor: string | null) =>
  json(200, { pastes: codes.map((short_code) => pasteWith({ short_code })), next_cursor });

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe('a list', () => {
  it('is read page by page while it is iterated, across empty pages and lost responses', async () => {
    bed.server.script(page(['a', 'b'], 'one'), reset, page([], 'two'), page(['c'], null));
    const listed = await all(bed.client().pastes.list({ status: 'PROCESSED', limit: 2 }));
    expect(listed.map(({ short_code }) => short_code)).toEqual(['a', 'b', 'c']);
    expect(paths()).toEqual([
      '/v1/pastes?status=PROCESSED&limit=2',
      '/v1/pastes?status=PROCESSED&limit=2&cursor=one',
      '/v1/pastes?status=PROCESSED&limit=2&cursor=one',
      '/v1/pastes?status=PROCESSED&limit=2&cursor=two',
    ]);
  });

  it('is read no further than it is iterated, and starts again at each iteration', async () => {
    bed.server.script(page(['a', 'b'], 'one'));
    const listing = bed.client().pastes.list();
    for (let times = 0; times < 2; times += 1) for await (const _paste of listing) break;
    expect(paths()).toEqual(['/v1/pastes', '/v1/pastes']);
  });

  it('can be read one page at a time, from any page', async () => {
    bed.server.script(page(['c'], 'two'), page(['c'], 'two'), page(['d'], null));
    const listing = bed.client().pastes.list();
    expect(await listing.page('one')).toMatchObject({ items: [{ short_code: 'c' }], nextCursor: 'two' });
    expect((await all(listing.pages('one'))).map(({ nextCursor }) => nextCursor)).toEqual(['two', null]);
    expect(paths()).toEqual(['/v1/pastes?cursor=one', '/v1/pastes?cursor=one', '/v1/pastes?cursor=two']);
  });

  it('can list jobs and the assets of a job', async () => {
    bed.server.script(json(200, { jobs: [jobWith({})], next_cursor: null }));
    expect(await all(bed.client().jobs.list({ status: 'queued', job_type: 'export' }))).toHaveLength(1);
    expect(paths()).toEqual(['/v1/jobs?status=queued&job_type=export']);

    bed.server.script(json(200, { assets: [{ id: '1' } as Asset], next_cursor: null }));
    expect(await all(bed.client().jobs.assets(JOB_ID, { limit: 500 }))).toHaveLength(1);
    expect(paths()).toEqual([`/v1/jobs/${JOB_ID}/assets?limit=500`]);
  });

  it('ends with the reason of its AbortSignal', async () => {
    const controller = new AbortController();
    const reason = new Error('the user has left');
    bed.server.script(page(['a'], 'one'));
    const listing = bed.client().pastes.list({ signal: controller.signal });
    const reading = async (): Promise<void> => {
      for await (const _paste of listing) controller.abort(reason);
    };
    await expect(reading()).rejects.toBe(reason);
  });
});
