import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { startCluster } from '../../src/index.ts';
import { isBrowserWanted, openSignedIn, useBrowser, violationsOf } from './browser.ts';
import { writeWideJob } from './wide-job.ts';

const describeInBrowser = isBrowserWanted() ? describe : describe.skip;

/** Nobody listens there, so that every delivery fails. */
const UNHEARD = 'http://127.0.0.1:9';

let removeJobTypes: () => Promise<void>;
afterAll(() => removeJobTypes?.());

const bed = useBrowser({
  start: async () => {
    const { file, remove } = await writeWideJob();
    removeJobTypes = remove;
    const WEBHOOK_KEY = 'the key of webhooks in these browser tests';
    return await startCluster({ env: { WEBHOOK_KEY, WEBHOOK_ORIGINS: UNHEARD, JOB_TYPES: file } });
  },
  originOf: (cluster) => cluster.http().url,
});
const { open } = bed;
const origin = () => bed.cluster.http().url;
const pathOf = (page: Page) => new URL(page.url()).pathname;

const signedIn = (path: string, token: string, options: BrowserContextOptions = {}): Promise<Page> =>
  openSignedIn(bed, { path, token, options });

describeInBrowser('signing in', () => {
  it('works with the keyboard alone, shows who is signed in, and ends', async () => {
    const { token, pastes } = await bed.cluster.user('keyboard');
    const { short_code } = await pastes.create(Buffer.from('mine alone'), { visibility: 'private' });
    await bed.cluster.untilStatus(short_code, 'PROCESSED');
    const page = await open(`/${short_code}`);
    await page.getByRole('link', { name: 'Sign in, if not everybody can read it' }).press('Enter');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.locator('#token:focus').waitFor();
    await page.keyboard.type(token);
    await page.keyboard.press('Enter');
    await page.getByText('mine alone').waitFor();
    expect(pathOf(page)).toBe(`/${short_code}`);
    await page.getByText('Signed in as keyboard').waitFor();
    expect(await page.evaluate(() => document.cookie)).toBe('');
    expect(page.url()).not.toContain(token);

    await page.locator('summary', { hasText: 'Signed in as' }).press('Enter');
    await page.getByRole('button', { name: 'Sign out' }).press('Enter');
    await page.getByRole('link', { name: 'Sign in' }).waitFor();
    expect((await page.goto(`${origin()}/${short_code}`))?.status()).toBe(404);
  });

  it('refuses a wrong token with the reason, and keeps where to go', async () => {
    const { token } = await bed.cluster.user('wrong first');
    const page = await open('/my/jobs');
    await page.getByLabel('API token').fill(`${token.slice(0, -1)}!`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('This token is not valid').waitFor();
    await page.getByLabel('API token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'My jobs' }).waitFor();
  });

  it('is over when the token is revoked', async () => {
    const { token, userId } = await bed.cluster.user('revoked');
    const page = await signedIn('/my/pastes', token);
    await bed.cluster.rows.query('UPDATE api_tokens SET revoked_at = now() WHERE user_id = $1', [userId]);
    await page.reload();
    await page.getByText('your token has expired or was revoked').waitFor();
    await page.getByRole('button', { name: 'Continue without signing in' }).click();
    await page.getByRole('heading', { name: 'New paste' }).waitFor();
  });

  it('creates a private paste with the form, which its owner deletes', async () => {
    const { token } = await bed.cluster.user('creator');
    const page = await signedIn('/', token);
    await page.getByLabel('Text').fill('for me');
    await page.getByLabel('Who can read it').selectOption('private');
    await page.getByRole('button', { name: 'Create paste' }).click();
    const url = await page.getByLabel('Link to the paste').inputValue();
    expect((await fetch(url)).status).toBe(404);
    await page.getByRole('link', { name: 'Open the paste' }).click();
    await page.locator('#content').waitFor();
    await page.getByText('Delete', { exact: true }).click();
    await page.getByRole('button', { name: 'Delete permanently' }).click();
    await page.getByRole('heading', { name: 'Paste deleted' }).waitFor();
  });
});

describeInBrowser.each([
  ['with JavaScript', true, 400], // enough to see the progress
  ['without JavaScript', false, 120], // more than the page lists
])('the lists %s', (_name, javaScriptEnabled, entries) => {
  it('show, filter and delete pastes', async () => {
    const { token, pastes } = await bed.cluster.user(`lists ${javaScriptEnabled}`);
    for (const title of ['first note', 'second note', 'other'])
      await pastes.create(Buffer.from(title), { title });
    const page = await signedIn('/my/pastes', token, { javaScriptEnabled });
    await page.getByLabel('Title or file name contains').fill('NOTE');
    if (!javaScriptEnabled) await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByRole('link', { name: 'other' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'second note' }).waitFor();
    await page.waitForLoadState(); // with all rows

    if (javaScriptEnabled) await page.getByLabel('Select all').check();
    else for (const box of await page.getByLabel(/Select .* note/).all()) await box.check();
    await page.getByRole('button', { name: 'Delete selected' }).click();
    await page.getByRole('heading', { name: 'Delete these 2 pastes?' }).waitFor();
    await page.getByRole('button', { name: 'Delete permanently' }).click();
    await page.getByText('2 pastes are deleted.').waitFor();
    await page.waitForLoadState(); // the rows stand below
    expect(await page.locator('.rows > li').count()).toBe(1);
  });

  it('import pastes, and show the progress and the errors', async () => {
    const { token } = await bed.cluster.user(`import ${javaScriptEnabled}`);
    const page = await signedIn('/my/jobs', token, { javaScriptEnabled });
    const lines = Array.from({ length: entries }, (_, i) =>
      JSON.stringify(i === 50 ? { content: '' } : { content: `paste ${i}`, title: `number ${i}` }),
    );
    const [worker] = bed.cluster.workers;
    worker!.signal('SIGSTOP'); // so that the page sees the job wait
    try {
      await page.locator('.starts summary', { hasText: 'Import' }).click();
      await page.getByLabel('File', { exact: true }).setInputFiles({
        name: 'pastes.ndjson',
        mimeType: 'application/x-ndjson',
        buffer: Buffer.from(lines.join('\n')),
      });
      await page.getByRole('button', { name: 'Start import' }).click();
      await page.getByRole('progressbar').waitFor();
      await page.getByText('The job waits for its turn.').waitFor();
      if (javaScriptEnabled) await recordProgress(page);
    } finally {
      worker!.signal('SIGCONT');
    }
    await page.getByText(`1 of ${entries} entries are not valid pastes`).waitFor({ timeout: 180_000 }); // after the puts
    await page.getByRole('heading', { name: 'Entries that were not imported' }).waitFor();
    await page.waitForLoadState(); // with all that was made
    expect(await page.locator('dl.facts', { hasText: 'Imported' }).innerText()).toMatch(
      new RegExp(`Imported\\s+${entries - 1}`),
    );
    await page.getByRole('cell', { name: 'Line 51', exact: true }).waitFor(); // as an editor numbers the lines of the file
    expect(await page.locator('ul.made li').count()).toBe(100);
    await page
      .getByRole('link', { name: /^number \d+$/ })
      .first()
      .waitFor(); // not its code
    if (javaScriptEnabled) expect(await recordedProgress(page)).toBeGreaterThan(0);
  }, 240_000);

  it('cancel a job that waits', async () => {
    const { token } = await bed.cluster.user(`cancel ${javaScriptEnabled}`);
    const page = await signedIn('/my/jobs', token, { javaScriptEnabled });
    const [worker] = bed.cluster.workers;
    worker!.signal('SIGSTOP'); // so that the job waits
    try {
      await page.locator('.starts summary', { hasText: 'Export' }).click();
      await page.getByRole('button', { name: 'Start export' }).click();
      await page.getByText('The job waits for its turn.').waitFor();
      await page.getByText('Cancel this job').click();
      await page.getByRole('button', { name: 'Cancel the job' }).click();
      await page.getByText('cancelled by its owner').waitFor();
      await page.waitForLoadState();
      expect(await page.getByText('Cancel this job').count()).toBe(0);
    } finally {
      worker!.signal('SIGCONT');
    }
  });

  it('export pastes, and link the archive', async () => {
    const { token, pastes } = await bed.cluster.user(`export ${javaScriptEnabled}`);
    const { short_code } = await pastes.create(Buffer.from('exported text'));
    await bed.cluster.untilStatus(short_code, 'PROCESSED');
    const page = await signedIn('/my/jobs', token, { javaScriptEnabled });
    await page.locator('.starts summary', { hasText: 'Export' }).click();
    await page.getByLabel('Format').selectOption('ndjson');
    await page.getByRole('button', { name: 'Start export' }).click();
    const link = page.getByRole('link', { name: 'Download the archive' });
    const archive = await fetch((await link.getAttribute('href'))!);
    expect(await archive.text()).toContain('exported text');
    await page.getByRole('link', { name: 'My jobs' }).first().click();
    await page.locator('.rows .badge').getByText('completed').waitFor();
  });
});

describeInBrowser('the list of jobs', () => {
  it('shows progress and the end by itself, and asks for nothing while it is hidden or nothing runs', async () => {
    const { token, jobs } = await bed.cluster.user('live list');
    const [worker] = bed.cluster.workers;
    worker!.signal('SIGSTOP'); // so that the jobs wait
    for (let i = 0; i < 2; i += 1) await jobs.create({ job_type: 'export', parameters: {} });
    const page = await signedIn('/my/jobs', token);
    await page.clock.install(); // which runs, and can be turned forward
    await page.reload();
    let requests = 0;
    page.on('request', () => (requests += 1));
    const hide = (hidden: boolean): Promise<void> =>
      page.evaluate((value) => {
        Object.defineProperty(document, 'hidden', { configurable: true, get: () => value });
        document.dispatchEvent(new Event('visibilitychange'));
      }, hidden);
    try {
      expect(await page.getByRole('progressbar').count()).toBe(2);
      await page.waitForRequest(`${origin()}/my/jobs`); // one for both
      await hide(true);
      await page.waitForLoadState('networkidle');
      requests = 0;
      await page.clock.runFor(60_000);
      expect(requests).toBe(0);
    } finally {
      worker!.signal('SIGCONT');
    }
    await page.getByRole('link', { name: 'Export' }).first().focus();
    await hide(false);
    await page.waitForFunction(() => document.querySelectorAll('.rows .badge.completed').length === 2);
    expect(await page.getByRole('progressbar').count()).toBe(0);
    expect(await page.locator('#ended[role=status]').textContent()).toBe('Export: completed');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Export'); // the focus stays
    await page.waitForLoadState('networkidle');
    requests = 0;
    await page.clock.runFor(60_000);
    expect(requests).toBe(0);
  });
});

/** Keeps the largest value that the bar shows before the page reloads at the end of the job. */
async function recordProgress(page: Page): Promise<void> {
  await page.evaluate(() => {
    const bar = document.querySelector('progress')!;
    const keep = (): void => {
      if (bar.value > Number(sessionStorage.getItem('progress')))
        sessionStorage.setItem('progress', String(bar.value));
    };
    new MutationObserver(keep).observe(bar, { attributes: true });
  });
}

const recordedProgress = (page: Page) => page.evaluate(() => Number(sessionStorage.getItem('progress')));

describeInBrowser('every page of a user', () => {
  let token = '';
  let paths: string[] = [];
  beforeAll(async () => {
    const user = await bed.cluster.user('a user with a rather long name, as identity providers make them');
    token = user.token;
    const made = await fetch(`${origin()}/v1/webhooks`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ url: `${UNHEARD}/${'x'.repeat(150)}`, events: ['paste.stored', 'job.ended'] }),
    });
    const { id: webhook } = (await made.json()) as { id: string };
    for (const title of ['A title', `a long one ${'x'.repeat(150)}`, '<b>markup</b>'])
      await user.pastes.create(Buffer.from('const x = 1;\n'), { title, visibility: 'private' });
    const { job_id: exported } = await user.jobs.create({ job_type: 'export', parameters: {} });
    const { job_id: failed } = await user.jobs.create({
      job_type: 'import',
      parameters: { items: [{ content: 'x' }, { content: '', title: 'y' }] },
    });
    const { job_id: own } = await user.jobs.create({ job_type: 'wide', parameters: {} } as never);
    for (const id of [exported, failed, own]) await user.jobs.wait(id);
    paths = [
      '/',
      '/session',
      '/my/pastes',
      '/my/sessions',
      '/my/tokens',
      '/my/webhooks',
      `/my/webhooks/${webhook}`,
      '/my/account',
      '/my/jobs',
      `/my/jobs/${exported}`,
      `/my/jobs/${failed}`,
      `/my/jobs/${own}`,
    ];
  });

  it.each([
    ['wide and light', { colorScheme: 'light' }],
    ['narrow and dark', { colorScheme: 'dark', viewport: { width: 320, height: 640 } }],
  ] as const)('keeps WCAG 2.2 AA and its width: %s', async (_name, options) => {
    const page = await signedIn('/', token, options);
    for (const path of paths) {
      await page.goto(origin() + path);
      expect([path, await violationsOf(page)]).toEqual([path, []]);
      const [width, shown] = await page.evaluate(
        () => [document.documentElement.scrollWidth, innerWidth] as const,
      );
      expect([path, width]).toEqual([path, shown]);
    }
  });
});
