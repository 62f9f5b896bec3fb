import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { startCluster, type Cluster, type User } from '../../src/index.ts';
import { isBrowserWanted, useBrowser, violationsOf } from './browser.ts';

const describeInBrowser = isBrowserWanted() ? describe : describe.skip;
const bed = useBrowser({
  start: () =>
    startCluster({
      house: {
        links: {
          imprint: 'https://example.com/imprint',
          privacy: 'https://example.com/privacy',
          terms: 'https://example.com/terms',
          abuse: 'abuse@example.com',
        },
      },
    }),
  originOf: (cluster) => cluster.http().url,
});

interface Stage {
  readonly cluster: Cluster;
  readonly page: Page;
  readonly user: User;
}

async function storeSecret({ cluster }: Stage): Promise<string> {
  const { short_code } = await cluster.client().pastes.create(Buffer.from('the secret'), { burn: true });
  await cluster.untilStatus(short_code, 'PROCESSED');
  return short_code;
}

async function reveal(stage: Stage): Promise<void> {
  await stage.page.goto(`${stage.cluster.http().url}/${await storeSecret(stage)}`);
  await stage.page.getByRole('button', { name: 'Reveal the text' }).click();
  await stage.page.locator('#content').waitFor();
}

/** The pages to which no address leads: those of one moment, and the answers to forms. */
const PAGES: Readonly<Record<string, (stage: Stage) => Promise<unknown>>> = {
  'a paste that was created': async ({ page }) => {
    await page.getByLabel('Text').fill('x');
    await page.getByText('More options').click();
    expect(await violationsOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Create paste' }).click();
    await page.getByRole('heading', { name: 'Paste created' }).waitFor();
  },
  'a paste that was deleted': async ({ cluster, page }) => {
    const { short_code, delete_token } = await cluster.client().pastes.create(Buffer.from('x'));
    await cluster.untilStatus(short_code, 'PROCESSED');
    await page.goto(`${cluster.http().url}/${short_code}`);
    await page.getByText('Delete this paste').click();
    await page.getByLabel('Delete token').fill(delete_token!);
    expect(await violationsOf(page)).toEqual([]); // with the form open
    await page.getByRole('button', { name: 'Delete permanently' }).click();
    await page.getByRole('heading', { name: 'Paste deleted' }).waitFor();
  },
  'a paste whose upload is in progress': async ({ cluster, page }) => {
    const put = cluster.s3.hold({ method: 'PUT' });
    const { short_code } = await cluster.client().pastes.create(Buffer.from('late'));
    await put;
    await page.goto(`${cluster.http().url}/${short_code}`);
    await page.getByText('The upload of this paste is in progress').waitFor();
  },
  'a paste that can be read once': async (stage) => {
    await stage.page.goto(`${stage.cluster.http().url}/${await storeSecret(stage)}`);
    await stage.page.getByRole('button', { name: 'Reveal the text' }).waitFor();
  },
  'a paste that is revealed': reveal,
  'a paste that was read, and its timeline': async (stage) => {
    await reveal(stage);
    const { page } = stage;
    await page.goto(page.url());
    await page.getByText('could be read once, and was read').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.getByRole('link', { name: 'Show the timeline' }).click();
    await page.getByRole('cell', { name: 'revealed' }).waitFor();
  },
  'a text with all warnings': async ({ cluster, page }) => {
    const text = Buffer.concat([Buffer.from([0xe9]), Buffer.from(`b\u202e\n${'y'.repeat(10_001)}\n`)]);
    const { short_code } = await cluster.client().pastes.create(text);
    await cluster.untilStatus(short_code, 'PROCESSED');
    await page.goto(`${cluster.http().url}/${short_code}`);
    expect(await page.getByRole('note').count()).toBe(3);
  },
  'a QR code': async ({ cluster, page }) => {
    const { short_code } = await cluster.client().pastes.create(Buffer.from('x'));
    await cluster.untilStatus(short_code, 'PROCESSED');
    await page.goto(`${cluster.http().url}/${short_code}`);
    await page.getByText('More', { exact: true }).click();
    await page.getByRole('button', { name: 'QR code' }).click();
    await page.getByRole('img', { name: 'QR code of' }).waitFor();
  },
  'a wrong token': async ({ cluster, page }) => {
    await page.goto(`${cluster.http().url}/session`);
    await page.getByLabel('API token').fill('wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('This token is not valid').waitFor();
  },
  'a slug that is moved, and its versions': async ({ cluster, page, user }) => {
    const slug = `axe-${randomBytes(6).toString('hex')}`;
    const { short_code: parent } = await user.pastes.create(Buffer.from('one'), { slug, wait: true });
    const { url } = await user.pastes.create(Buffer.from('two'), { parent, wait: true });
    await page.goto(`${cluster.http().url}/session?next=/${url.split('/').at(-1)!}`);
    await page.getByLabel('API token').fill(user.token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: `Move ~${slug} to this version` }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.getByRole('button', { name: `Move ~${slug} to this version` }).click();
    await page.getByRole('link', { name: 'Version 2 of 2' }).click();
    await page.getByRole('heading', { name: 'Versions of' }).waitFor();
    await page.getByRole('link', { name: 'Version 1', exact: true }).waitFor();
  },
  'pastes that are to be deleted, and the job of an export': async ({ cluster, page, user }) => {
    await user.pastes.create(Buffer.from('mine'), { title: 'mine' });
    await page.goto(`${cluster.http().url}/session?next=/my/pastes`);
    await page.getByLabel('API token').fill(user.token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByLabel('Select mine').check();
    await page.getByRole('button', { name: 'Delete selected' }).click();
    await page.getByRole('link', { name: 'Keep it' }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    const [worker] = cluster.workers;
    worker!.signal('SIGSTOP'); // so that the job waits
    try {
      await page.goto(`${cluster.http().url}/my/jobs`);
      await page.locator('.starts summary', { hasText: 'Export' }).click();
      expect(await violationsOf(page)).toEqual([]);
      await page.getByRole('button', { name: 'Start export' }).click();
      await page.getByRole('progressbar').waitFor();
      expect(await violationsOf(page)).toEqual([]);
    } finally {
      worker!.signal('SIGCONT');
    }
    await page.getByRole('link', { name: 'Download the archive' }).waitFor();
  },
};

const VARIANTS: Readonly<Record<string, BrowserContextOptions>> = {
  light: { colorScheme: 'light' },
  'dark and narrow': { colorScheme: 'dark', viewport: { width: 320, height: 640 } },
};

describeInBrowser.each(Object.keys(VARIANTS))(
  'the page of one moment keeps WCAG 2.2 AA and its width, %s:',
  (variant) => {
    it.each(Object.keys(PAGES))('%s', async (name) => {
      const page = await bed.open('/', VARIANTS[variant]);
      const { cluster } = bed;
      const user = await cluster.user(`axe ${variant}`);
      try {
        await PAGES[name]!({ cluster, page, user });
        expect(await violationsOf(page)).toEqual([]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
      } finally {
        cluster.s3.clear();
      }
    });
  },
);
