import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startCluster } from '../../src/index.ts';
import { isBrowserWanted, useBrowser, violationsOf } from './browser.ts';
import { storePaste } from './store-paste.ts';

const describeInBrowser = isBrowserWanted() ? describe : describe.skip;

const bed = useBrowser({ start: () => startCluster(), originOf: (cluster) => cluster.http().url });
const { open } = bed;

const choose = (page: Page, language: string) => page.getByRole('button', { name: language }).click();
const languageOf = (page: Page) => page.locator('html').getAttribute('lang');

describeInBrowser.each(['de', 'fr', 'es', 'ja', 'ar'])('a phone whose language is %s', (locale) => {
  it.each(['/', 'a paste'])('shows %s in the language, as wide as the screen', async (what) => {
    const path = what === 'a paste' ? `/${await storePaste(bed.cluster, 'const a = 1;\n')}` : what;
    const page = await open(path, { locale, viewport: { width: 360, height: 800 } });
    expect(await languageOf(page)).toBe(locale);
    expect(await violationsOf(page)).toEqual([]);
    const menu = page.locator('main details.menu').first();
    if ((await menu.count()) > 0) await menu.click();
    const { clientWidth, scrollWidth } = await page.evaluate(() => document.documentElement);
    expect(scrollWidth).toBe(clientWidth);
  });
});

describeInBrowser('a page in Arabic', () => {
  it('goes from right to left, but the lines of a text and their numbers', async () => {
    const page = await open(`/${await storePaste(bed.cluster, 'the text')}`, { locale: 'ar' });
    const xOf = async (selector: string) => (await page.locator(selector).first().boundingBox())!.x;
    expect(await xOf('.brand')).toBeGreaterThan(await xOf('#theme'));
    const line = page.locator('#L1');
    expect(await line.evaluate((each) => getComputedStyle(each).direction)).toBe('ltr');
    const number = await line.evaluate((each) => getComputedStyle(each, '::before').left);
    expect(number).toBe('0px');
  });

  it('has the warnings among the lines of an encrypted text from right to left', async () => {
    const page = await open('/', { locale: 'ar' });
    await page.locator('#text').fill('a\u202eb');
    await page.locator('#more > summary').click();
    await page.locator('#encrypt').check();
    await page.locator('#create').click();
    await page.locator('#open').click();
    const warning = page.locator('#content .warning');
    expect(await warning.evaluate((each) => getComputedStyle(each).direction)).toBe('rtl');
  });
});

describeInBrowser('a refusal in the form', () => {
  it('names the language of the parts that only the API has', async () => {
    const page = await open('/', { locale: 'ar' });
    await page.locator('#text').fill('my text');
    await page
      .locator('#expires_in option')
      .last()
      .evaluate((option) => option.setAttribute('value', 'soon'));
    await page.locator('#expires_in').selectOption('soon');
    await page.locator('#create').click();
    const part = page.locator('#form-error [lang=en][dir=ltr]');
    expect(await part.textContent()).toMatch(/^must be /);
  });
});

describeInBrowser('the choice of a language', () => {
  it('shows the page again, with the text that was entered', async () => {
    const page = await open('/');
    await page.getByLabel('Text').fill('my text');
    await choose(page, 'Deutsch');
    await page.getByRole('button', { name: 'Paste erstellen' }).waitFor();
    await page.waitForLoadState(); // by then the script has entered the draft
    expect(await languageOf(page)).toBe('de');
    expect(await page.locator('#text').inputValue()).toBe('my text');
    await page.goto(`${bed.cluster.http().url}/session`);
    expect(await languageOf(page)).toBe('de');
  });

  it('keeps the key of an encrypted paste, which is in the fragment', async () => {
    const page = await open('/');
    await page.getByLabel('Text').fill('a secret');
    await page.getByText('More options').click();
    await page.getByLabel('Encrypt in this browser').check();
    await page.getByRole('button', { name: 'Create paste' }).click();
    await page.getByRole('link', { name: 'Open the paste' }).click();
    await page.getByText('a secret').waitFor();
    await choose(page, 'Español');
    await page.locator('html[lang=es]').waitFor();
    await page.getByText('a secret').waitFor();
  });

  it('leaves a paste that was created in its language, as the page says', async () => {
    const page = await open('/');
    await page.getByLabel('Text').fill('my text');
    await page.getByRole('button', { name: 'Create paste' }).click();
    await page.getByRole('heading', { name: 'Paste created' }).waitFor();
    await choose(page, 'العربية');
    await page.locator('html[lang=ar] main[lang=en][dir=ltr]').waitFor();
    await page.getByText('expires in 30 days').waitFor();
  });

  it('is not on a page of which a reload would lose the key or the only copy', async () => {
    const page = await open('/');
    const languages = page.locator('#languages');
    await page.getByLabel('Text').fill('a secret');
    await page.getByText('More options').click();
    await page.getByLabel('Encrypt in this browser').check();
    await page.getByLabel('Delete the paste when it is read').check();
    await page.getByRole('button', { name: 'Create paste' }).click();
    const link = page.getByRole('link', { name: 'Open the paste' });
    await link.waitFor();
    expect(await languages.count()).toBe(0);
    await bed.cluster.untilStatus(new URL((await link.getAttribute('href'))!).pathname.slice(1), 'PROCESSED');
    await link.click();
    await page.getByRole('button', { name: 'Reveal the text' }).waitFor();
    expect(await languages.count()).toBe(1);
    await page.getByRole('button', { name: 'Reveal the text' }).click();
    await page.getByText('a secret').waitFor();
    expect(await languages.count()).toBe(0);
  });

  it('needs no JavaScript', async () => {
    const page = await open('/docs-of-nothing', { javaScriptEnabled: false });
    await choose(page, '日本語');
    await page.locator('html[lang=ja]').waitFor();
    expect(new URL(page.url()).pathname).toBe('/docs-of-nothing');
  });
});
