import { expect, it } from '@jest/globals';
import { useApi } from './support/api.ts';
import { addAsset, claim, end, newJob } from './support/jobs.ts';
import { newUser, type TestUser } from './support/users.ts';

const bed = useApi();

interface Asset {
  readonly url: string;
  readonly number: number | null;
}

/** An export that has made two archives. @returns its ids */
async function exportOfTwo(user: TestUser): Promise<{ jobId: string; executionId: string }> {
  const jobId = await newJob(bed.db, user);
  const executionId = await claim(bed.db, jobId);
  for (const number of [1, 2]) {
    const asset = { assetType: 'archive', storagePath: `jobs/${jobId}/x-${number}.tar.gz` };
    await addAsset(
      bed.db,
      { user, jobId, executionId },
      { ...asset, archive: { number, checkpoint: { secret: 1 } } },
    );
  }
  return { jobId, executionId };
}

it('the archives of an export have numbers and different names, and no checkpoints', async () => {
  const user = await newUser(bed.db);
  const { jobId } = await exportOfTwo(user);
  const answer = await fetch(`${bed.api.url}/v1/jobs/${jobId}/assets`, { headers: user.headers });
  const text = await answer.text();
  expect(text).not.toContain('secret');
  const { assets } = JSON.parse(text) as { assets: readonly Asset[] };
  const nameOf = ({ url }: Asset): string | null =>
    new URL(url).searchParams.get('response-content-disposition');
  expect(assets.map((asset) => [asset.number, nameOf(asset)])).toEqual([
    [2, expect.stringMatching(/"pasteflow-export-\d{4}-\d\d-\d\d-2\.tar\.gz"/)],
    [1, expect.stringMatching(/"pasteflow-export-\d{4}-\d\d-\d\d\.tar\.gz"/)],
  ]);
});

it('the page of an export links to each archive, in their order, and says when they are removed', async () => {
  const user = await newUser(bed.db);
  const { jobId, executionId } = await exportOfTwo(user);
  const page = async (): Promise<string> => {
    const headers = { ...user.headers, accept: 'text/html' };
    return await (await fetch(`${bed.api.url}/my/jobs/${jobId}`, { headers })).text();
  };
  const result = { exported: 9, archives: 2 };
  await end(bed.db, executionId, { status: 'completed', result, errorMessage: null });
  const ended = await page();
  const links = [...ended.matchAll(/x-(\d)\.tar\.gz[^>]*>Download archive (\d)/g)].map(([, ...both]) => both);
  expect(links).toEqual([
    ['1', '1'],
    ['2', '2'],
  ]);
  const removed = 'only those of your three newest exports are kept';
  expect(ended).not.toContain(removed);
  await bed.db.deleteFrom('assets').where('job_id', '=', jobId).execute();
  expect(await page()).toContain(removed);
});

it('a file of a job type of the operator’s own has its name, and the page shows the result as it was written', async () => {
  const user = await newUser(bed.db);
  const jobId = await newJob(bed.db, user, 'fetch');
  const executionId = await claim(bed.db, jobId);
  for (const name of ['news.xml', 'old.tar.gz'])
    await addAsset(
      bed.db,
      { user, jobId, executionId },
      { assetType: 'feed', storagePath: `jobs/${jobId}/${executionId}/${name}` },
    );
  const result = { saved: ['news'], text: '<b>', count: 2 };
  await end(bed.db, executionId, { status: 'completed', result, errorMessage: null });
  const answer = await fetch(`${bed.api.url}/v1/jobs/${jobId}/assets`, { headers: user.headers });
  const { assets } = (await answer.json()) as { assets: readonly (Asset & { name: string | null })[] };
  expect(
    assets.map(({ name, url }) => [name, new URL(url).searchParams.get('response-content-disposition')]),
  ).toEqual([
    ['old.tar.gz', 'attachment; filename="old.tar.gz"'],
    ['news.xml', 'attachment; filename="news.xml"'],
  ]);
  const headers = { ...user.headers, accept: 'text/html' };
  const page = await (await fetch(`${bed.api.url}/my/jobs/${jobId}`, { headers })).text();
  expect([...page.matchAll(/>(Download: [^<]*)</g)].map(([, text]) => text)).toEqual([
    'Download: news.xml',
    'Download: old.tar.gz',
  ]);
  expect(page).toContain('<dt dir="auto">saved</dt><dd dir="auto">[&quot;news&quot;]</dd>');
  expect(page).toContain('<dt dir="auto">text</dt><dd dir="auto">&lt;b&gt;</dd>');
});
