import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startCluster } from '../../src/index.ts';
import { isBrowserWanted, useBrowser, violationsOf } from './browser.ts';
import { storePaste } from './store-paste.ts';

const describeInBrowser = isBrowserWanted() ? describe : describe.skip;

const bed = useBrowser({ start: () => startCluster(), originOf: (cluster) => cluster.http().url });
const { open } = bed;

const backgroundOf = (page: Page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

describeInBrowser('the colours of the pages', () => {
  it('follow the system, or the choice of the reader, which is there before any module runs', async () => {
    const page = await open('/missing123', { colorScheme: 'light' });
    const light = await backgroundOf(page);
    await page.getByRole('button', { name: 'Colours: as the system' }).click();
    expect(await backgroundOf(page)).toBe(light);
    await page.getByRole('button', { name: 'Colours: light' }).click();
    const dark = await backgroundOf(page);
    expect(dark).not.toBe(light);
    await page.route('**/assets/*.js', (route) => route.abort());
    await page.goto(bed.cluster.http().url);
    expect(await backgroundOf(page)).toBe(dark);
  });
});

describeInBrowser('the navigation', () => {
  it('shows which page is open also where the system forces its colours', async () => {
    const page = await open('/', { forcedColors: 'active' });
    const colourOf = (name: string) =>
      page
        .getByRole('navigation')
        .getByRole('link', { name })
        .evaluate((link) => getComputedStyle(link).borderBottomColor);
    expect(await colourOf('API')).toBe(await backgroundOf(page));
    expect(await colourOf('New paste')).not.toBe(await colourOf('API'));
  });
});

describeInBrowser('single keys', () => {
  it('press what they name, are listed, and can be switched off', async () => {
    const code = await storePaste(bed.cluster, 'the text');
    const page = await open(`/${code}`);
    await page.locator('#copy:not([hidden])').waitFor();
    await page.keyboard.press('c');
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('the text');
    await page.keyboard.press('q');
    await page.locator('svg.qr').waitFor();
    await page.keyboard.press('?');
    const list = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await list.waitFor();
    expect((await list.locator('kbd').allTextContents()).toSorted()).toEqual('?cenqrwy'.split(''));
    expect(await violationsOf(page)).toEqual([]);
    await list.getByLabel('Use these keys').uncheck();
    await page.keyboard.press('Escape');
    await page.keyboard.press('n');
    expect(new URL(page.url()).pathname).toBe(`/${code}`);
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
    await list.getByLabel('Use these keys').check();
    await list.getByRole('button', { name: 'Close' }).click();
    await page.keyboard.press('n');
    await page.getByRole('heading', { name: 'New paste' }).waitFor();
    await page.getByLabel('Text').fill('');
    await page.keyboard.type('c?');
    expect(await page.getByLabel('Text').inputValue()).toBe('c?');
  });
});

describeInBrowser('a file', () => {
  it('that is too large is refused before it is sent, also one of several', async () => {
    const page = await open('/');
    const field = page.getByLabel('Or files');
    const posts: string[] = [];
    page.on('request', (request) => void (request.method() === 'POST' && posts.push(request.url())));
    const buffer = Buffer.alloc(11 * 1024 * 1024);
    const large = { name: 'large.bin', mimeType: 'application/octet-stream', buffer };
    await field.setInputFiles(large);
    await page.getByRole('button', { name: 'Create paste' }).click();
    await page.getByRole('alert').getByText('At most 10 MiB.').waitFor();
    expect(posts).toEqual([]);
    await field.setInputFiles({ ...large, name: 'small.bin', buffer: Buffer.from('a') });
    await page.getByRole('button', { name: 'One paste each' }).click();
    await page.getByText('large.bin: At most 10 MiB.').waitFor();
    expect(posts.length).toBe(1);
  });
});

describeInBrowser('a narrow page', () => {
  it('has all pages of the navigation in each language, the API at its foot, and no keys on touch screens', async () => {
    const { token } = await bed.cluster.user('narrow');
    for (const locale of ['de', 'fr', 'es', 'ja']) {
      const options = { viewport: { width: 390, height: 800 }, locale, hasTouch: true, isMobile: true };
      const page = await open('/session?next=%2F', options);
      await page.locator('#token').fill(token);
      await page.locator('form:has(#token) button').click();
      await page.locator('.account.menu').waitFor();
      await page.waitForLoadState(); // with its foot
      expect(await page.locator('footer').getByRole('link', { name: 'API' }).isVisible()).toBe(true);
      expect(await page.locator('#keys').isVisible()).toBe(false);
      const left = await page.locator('header nav').evaluate((nav) => nav.scrollWidth - nav.clientWidth);
      expect([locale, left < 6]).toEqual([locale, true]); // nothing but the end of a letter
    }
  });
});
