// node --test
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { loadForTest, type TestJob } from '@pasteflow/job/testing';
import fetchFeeds from './fetch-feeds.mts';

const requested: string[] = [];
const server = createServer((req, res) => {
  requested.push(req.url ?? '');
  res.end(`<rss>${req.url}</rss>`);
});
let makeJob: (name: string, parameters: unknown) => TestJob;

before(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  process.env['FEEDS'] = JSON.stringify({ news: `${url}/news`, blog: `${url}/blog` });
  makeJob = await loadForTest(fetchFeeds);
});
after(() => server.close());

test('goes on where an attempt has died', async () => {
  const job = makeJob('fetch', { feeds: ['news', 'blog'] });
  const died = await job.attempt({ diesAfterAssets: 1 });
  assert.equal(died.ending, null);
  const { ending } = await job.attempt();
  assert.deepEqual(ending, { status: 'completed', result: { saved: ['news', 'blog'], refused: [] } });
  assert.deepEqual(
    job.assets.map(({ name }) => name),
    ['news.xml', 'blog.xml'],
  );
  assert.deepEqual(requested, ['/news', '/blog', '/blog']);
});

test('takes only the feeds of the list', () => {
  assert.throws(() => makeJob('fetch', { feeds: ['http://169.254.169.254/'] }), /must be one of news, blog/);
});
