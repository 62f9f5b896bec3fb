import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  createTestDatabase,
  spawnService,
  startSharedTestStack,
  urlOfService,
  type SharedTestStack,
  type SpawnedProcess,
} from '@pasteflow/dev-stack/testing';

const path = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

let stack: SharedTestStack;
let feeds: Server;
const services: SpawnedProcess[] = [];
let api: string;
let token: string;

/** Answers of the server of the feeds, by path; a test replaces them. */
let answers: Record<string, RequestListener>;
let requested: string[];

const answer = (status: number, body = ''): RequestListener => {
  return (_, res) => void res.writeHead(status, { Location: '/private' }).end(body);
};

beforeAll(async () => {
  stack = await startSharedTestStack();
  feeds = createServer((req, res) => {
    requested.push(req.url ?? '');
    (answers[req.url ?? ''] ?? answer(404))(req, res);
  }).listen(0, '127.0.0.1');
  await once(feeds, 'listening');
  const { port } = feeds.address() as AddressInfo;
  const urls = ['news', 'blog', 'gone', 'moved'].map((name) => [name, `http://127.0.0.1:${port}/${name}`]);
  const { url: databaseUrl } = await createTestDatabase(stack);
  const start = (name: 'api' | 'upload-worker', entry: string, args: string[] = []): SpawnedProcess => {
    const service = spawnService({
      name,
      entry: path(entry),
      args,
      env: {
        DATABASE_URL: urlOfService(databaseUrl, name),
        AWS_ENDPOINT_URL: stack.aws.endpoint,
        AWS_ACCESS_KEY_ID: 'test',
        AWS_SECRET_ACCESS_KEY: 'test',
        API_PORT: '0',
        METRICS_PORT: '0',
        JOB_RETRY_DELAYS_MS: '100,100',
        FEEDS: JSON.stringify(Object.fromEntries(urls)),
      },
    });
    services.push(service);
    return service;
  };
  const [started, , printed] = await Promise.all([
    start('api', '../src/api-main.ts').waitFor(/"url":"([^"]+)"/),
    start('upload-worker', '../src/upload-worker-main.ts').waitFor(/service started/),
    start('api', '../../../services/api/src/token-main.ts', ['alice']).waitFor(/^pf_\S+/),
  ]);
  api = started[1] ?? '';
  token = printed[0];
});

afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()));
  feeds?.close();
  await stack?.stop();
});

beforeEach(() => {
  answers = { '/news': answer(200, '<rss>news</rss>'), '/blog': answer(200, '<rss>blog</rss>') };
  requested = [];
});

interface Job {
  readonly status: string;
  readonly progress: number;
  readonly completed_at: string | null;
}

async function call<Body>(route: string, body?: object): Promise<{ status: number; body: Body }> {
  const response = await fetch(`${api}${route}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Body };
}

async function create(...feedNames: string[]): Promise<string> {
  const job = { job_type: 'fetch', parameters: { feeds: feedNames } };
  const { status, body } = await call<{ job_id: string }>('/v1/jobs', job);
  expect(status).toBe(202);
  return body.job_id;
}

async function until(jobId: string, accept: (job: Job) => boolean): Promise<Job> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const { body: job } = await call<Job>(`/v1/jobs/${jobId}`);
    if (accept(job)) return job;
    if (performance.now() > deadline) throw new Error(`not accepted within 60 s: ${JSON.stringify(job)}`);
    await sleep(50);
  }
}

const untilEnded = (jobId: string): Promise<Job> => until(jobId, (job) => job.completed_at !== null);

describe('a job type of an own', () => {
  it('saves each feed as an asset, and shows its progress', async () => {
    const held = Promise.withResolvers<void>();
    answers['/blog'] = (req, res) => void held.promise.then(() => answer(200, '<rss>blog</rss>')(req, res));
    const jobId = await create('news', 'blog');
    expect(await until(jobId, ({ progress }) => progress > 0)).toMatchObject({
      status: 'processing',
      progress: 50,
      progress_message: '1 of 2 feeds',
    });
    held.resolve();
    expect(await untilEnded(jobId)).toMatchObject({
      status: 'completed',
      progress: 100,
      result: { saved: ['news', 'blog'] },
    });
    const { body } = await call<{ assets: { url: string }[] }>(`/v1/jobs/${jobId}/assets`);
    const contents = body.assets.map(async ({ url }) => await (await fetch(url)).text());
    expect((await Promise.all(contents)).toSorted()).toEqual(['<rss>blog</rss>', '<rss>news</rss>']);
  });

  it('keeps what it saved when other feeds are refused, and follows no redirect', async () => {
    answers['/moved'] = answer(302);
    const job = await untilEnded(await create('gone', 'moved', 'news'));
    expect(job).toMatchObject({
      status: 'partial',
      result: {
        saved: ['news'],
        refused: [
          { feed: 'gone', reason: 'answered 404' },
          { feed: 'moved', reason: 'answered 302' },
        ],
      },
    });
    expect(requested).toEqual(['/gone', '/moved', '/news']);
  });

  it('retries a feed that is unavailable, and fetches no other feed again', async () => {
    answers['/blog'] = (req, res) => {
      answers['/blog'] = answer(200, '<rss>blog</rss>');
      answer(503)(req, res);
    };
    const job = await untilEnded(await create('blog', 'news'));
    expect(job).toMatchObject({ status: 'completed', result: { saved: ['news', 'blog'] } });
    expect(requested).toEqual(['/blog', '/news', '/blog']);
  });

  it('takes only the feeds of the list', async () => {
    const url = 'http://169.254.169.254/latest/meta-data';
    const job = { job_type: 'fetch', parameters: { feeds: [url] } };
    const { status, body } = await call<{ code: string }>('/v1/jobs', job);
    expect([status, body.code]).toEqual([422, 'validation_failed']);
    expect(JSON.stringify(body)).toContain('must be one of news, blog, gone, moved');
  });

  it('is documented in the OpenAPI document', async () => {
    const { body } = await call('/openapi.json');
    expect(body).toMatchObject({
      components: { schemas: { NewFetchJob: { description: 'Saves feeds, each as an asset of the job.' } } },
    });
  });
});
