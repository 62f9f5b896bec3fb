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
    expect((await list.locator('kbd').allTextContents()).toSorted()).toEqual('?cnqrwy'.split(''));
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
