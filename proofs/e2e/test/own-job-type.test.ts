// A job type in a folder outside of the repository, as its author has it: with the packed package @pasteflow/job, and
// the services that load the file.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { spawnService, temporaryFolder } from '@pasteflow/dev-stack/testing';
import { ROOT, entryOf, startCluster, type Cluster, type User } from '../src/index.ts';

const run = promisify(execFile);
const EXAMPLE = join(ROOT, 'examples/own-job-type');
const README = join(ROOT, 'clients/job/README.md');

let folder: string;
let removeFolder: () => Promise<void>;
let file: string;
let cluster: Cluster;
let user: User;
let feeds: Server;

/** Answers of the server of the feeds, by path; a test replaces them. */
let answers: Record<string, RequestListener>;
let requested: string[];

const answer = (status: number, body = ''): RequestListener => {
  return (_, res) => void res.writeHead(status, { Location: '/private' }).end(body);
};

beforeAll(async () => {
  const made = await temporaryFolder();
  [folder, removeFolder] = [made.dataDir, made.remove];
  await makeAuthorsFolder();
  file = join(folder, 'fetch-feeds.mts');
  feeds = createServer((req, res) => {
    requested.push(req.url ?? '');
    (answers[req.url ?? ''] ?? answer(404))(req, res);
  }).listen(0, '127.0.0.1');
  await once(feeds, 'listening');
  const { port } = feeds.address() as AddressInfo;
  const urls = ['news', 'blog', 'gone', 'moved'].map((name) => [name, `http://127.0.0.1:${port}/${name}`]);
  cluster = await startCluster({
    env: {
      JOB_TYPES: file,
      FEEDS: JSON.stringify(Object.fromEntries(urls)),
      JOB_RETRY_DELAYS_MS: '100,100',
    },
  });
  user = await cluster.user('alice');
});

afterAll(async () => {
  await cluster?.stop();
  feeds?.close();
  await removeFolder?.();
});

beforeEach(() => {
  answers = { '/news': answer(200, '<rss>news</rss>'), '/blog': answer(200, '<rss>blog</rss>') };
  requested = [];
});

/** What the tutorial has the author do, but without a registry. */
async function makeAuthorsFolder(): Promise<void> {
  await run(process.execPath, [join(ROOT, 'clients/job/build.ts')]);
  const installed = join(folder, 'node_modules/@pasteflow/job');
  await mkdir(installed, { recursive: true });
  await run('tar', ['-xzf', join(ROOT, 'clients/job/dist/job.tgz'), '-C', installed, '--strip-components=1']);
  await mkdir(join(folder, 'node_modules/@types'));
  await symlink(join(ROOT, 'node_modules/@types/node'), join(folder, 'node_modules/@types/node'));
  for (const name of ['fetch-feeds.mts', 'fetch-feeds.test.mts', 'tsconfig.json']) {
    await copyFile(join(EXAMPLE, name), join(folder, name));
    await chmod(join(folder, name), 0o644); // whatever the umask is
  }
  const examples = [...(await readFile(README, 'utf8')).matchAll(/^```ts\n(.*?)^```$/gms)];
  for (const [index, name] of ['own.mts', 'own.test.mts'].entries())
    await writeFile(join(folder, name), examples[index]![1]!);
}

describe('the folder of an author', () => {
  const tsc = async () =>
    await run(join(ROOT, 'node_modules/.bin/tsc'), ['--project', folder], { cwd: folder });

  it('holds nothing that its package does not bring', async () => {
    const manifest = await run('tar', [
      '-xzOf',
      join(ROOT, 'clients/job/dist/job.tgz'),
      'package/package.json',
    ]);
    expect(JSON.parse(manifest.stdout)).not.toHaveProperty('dependencies');
    expect(JSON.parse(manifest.stdout)).not.toHaveProperty('private');
  });

  it('is type-checked by the types of the package', async () => {
    await tsc();
    const wrong = join(folder, 'wrong.mts');
    await writeFile(
      wrong,
      `import type { Kit } from '@pasteflow/job';
export default (kit: Kit) =>
  kit.defineJobType({
    name: 'wrong',
    summary: 'Made for a test.',
    parameters: kit.z.strictObject({ count: kit.z.int() }),
    example: { count: 'one' },
    run: async ({ parameters, database }) => ({ status: parameters.count.never }),
  });
`,
    );
    const { stdout } = await tsc().then(
      () => ({ stdout: 'no error' }),
      (error: unknown) => error as { stdout: string },
    );
    for (const fault of ["'string' is not assignable to type 'number'", "'database'", "'never'"])
      expect(stdout).toContain(fault);
    await writeFile(wrong, '');
  });

  it('runs the tests of the author, and of the README, with the test kit', async () => {
    const { stdout } = await run(process.execPath, ['--test'], {
      cwd: folder,
      env: { PATH: process.env['PATH'] },
    });
    expect(stdout).toMatch(/pass 3\n/);
  });
});

async function create(...names: string[]): Promise<string> {
  const { job_id: id } = await user.jobs.create({ job_type: 'fetch', parameters: { feeds: names } } as never);
  return id;
}

describe('the services', () => {
  it('save each feed as an asset, and show the progress', async () => {
    const held = Promise.withResolvers<void>();
    answers['/blog'] = (req, res) => void held.promise.then(() => answer(200, '<rss>blog</rss>')(req, res));
    const id = await create('news', 'blog');
    await cluster.until(async () => (await user.jobs.get(id)).progress > 0);
    expect(await user.jobs.get(id)).toMatchObject({
      status: 'processing',
      progress: 50,
      progress_message: '1 of 2 feeds',
    });
    held.resolve();
    expect(await user.jobs.wait(id)).toMatchObject({
      status: 'completed',
      progress: 100,
      result: { saved: ['news', 'blog'] },
    });
    const contents: Record<string, string> = {};
    for await (const { name, url } of user.jobs.assets(id))
      contents[name ?? ''] = await (await fetch(url)).text();
    expect(contents).toEqual({ 'blog.xml': '<rss>blog</rss>', 'news.xml': '<rss>news</rss>' });
  });

  it('keep what was saved when other feeds are refused, and follow no redirect', async () => {
    answers['/moved'] = answer(302);
    expect(await user.jobs.wait(await create('gone', 'moved', 'news'))).toMatchObject({
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

  it('retry a feed that is unavailable, and fetch no other feed again', async () => {
    answers['/blog'] = (req, res) => {
      answers['/blog'] = answer(200, '<rss>blog</rss>');
      answer(503)(req, res);
    };
    expect(await user.jobs.wait(await create('blog', 'news'))).toMatchObject({
      status: 'completed',
      result: { saved: ['news', 'blog'] },
    });
    expect(requested).toEqual(['/blog', '/news', '/blog']);
  });

  it('take only the feeds of the list', async () => {
    await expect(create('http://169.254.169.254/latest/meta-data')).rejects.toMatchObject({
      status: 422,
      code: 'validation_failed',
    });
  });

  it('describe the type in the OpenAPI document, and list its jobs', async () => {
    expect(await (await cluster.http().request('/openapi.json')).json()).toMatchObject({
      components: { schemas: { NewFetchJob: { description: 'Saves feeds, each as an asset of the job.' } } },
    });
    const listed = [];
    for await (const job of user.jobs.list({ job_type: 'fetch' } as never)) listed.push(job.job_type);
    expect(new Set(listed)).toEqual(new Set(['fetch']));
  });

  it.each(['api', 'upload-worker'] as const)('end the start of the %s with words', async (name) => {
    const open = join(folder, `open-${name}.mts`);
    await copyFile(file, open);
    await chmod(open, 0o666);
    const env = { ...cluster.environment(name), METRICS_PORT: '0', API_PORT: '0', JOB_TYPES: open };
    const service = spawnService({ name, entry: entryOf(name), env });
    expect(await service.exited).toEqual({ code: 78, signal: null });
    expect(service.stderr.join('\n')).toContain(
      `JOB_TYPES names ${open}, but others may write to ${open}; take that away with: chmod go-w ${open}`,
    );
  });
});
