import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startCluster } from '../../src/index.ts';
import { isBrowserWanted, useBrowser, violationsOf } from './browser.ts';
import { codeOf, encrypt as encryptIn, openLink as openLinkIn, textOf } from './encrypt.ts';

const describeInBrowser = isBrowserWanted() ? describe : describe.skip;

const bed = useBrowser({ start: () => startCluster(), originOf: (cluster) => cluster.http().url });
const { open } = bed;
const encrypt = (text: string, options = {}) => encryptIn(bed, text, options);
const openLink = (link: string) => openLinkIn(bed, link);

describeInBrowser('an encrypted paste that is deleted when it is read', () => {
  it('is read once by the button of its page, when it is deleted by that', async () => {
    const page = await open('/');
    await page.getByLabel('Text').fill('read me once');
    await page.getByText('More options').click();
    await page.getByLabel('Encrypt in this browser').check();
    await page.getByLabel('Delete the paste when it is read').check();
    await page.getByRole('button', { name: 'Create paste' }).click();
    const link = await page.getByLabel('Link to the paste').inputValue();
    const [reader, late] = [await openLink(link), await openLink(link)];
    expect(await reader.locator('#content .chunk').count()).toBe(0);
    for (const each of [reader, late]) await each.getByRole('button', { name: 'Reveal the text' }).click();
    await Promise.all(
      [reader, late].map((each) => each.locator('#content .chunk, #sealed-error p').first().waitFor()),
    );
    const texts = await Promise.all([reader, late].map(textOf));
    expect(texts.toSorted()).toEqual(['', 'read me once']);
  });

  it('is read with the third password after one reveal, and the page warns before its only copy is lost', async () => {
    const { link } = await encrypt('read me once', { password: 'right', burn: true });
    const page = await openLink(link);
    const reveals: string[] = [];
    page.on('request', (request) => void (request.method() === 'POST' && reveals.push(request.url())));
    const warnings: string[] = [];
    page.on('dialog', (dialog) => void warnings.push(dialog.type()));
    await page.getByRole('button', { name: 'Reveal the text' }).click();
    await page.getByText('this page has the only copy').waitFor();
    for (const password of ['wrong', 'bad']) {
      await page.getByLabel('Password').fill(password);
      await page.getByRole('button', { name: 'Decrypt' }).click();
      await page.getByText('The password or the key in the link is wrong').waitFor();
    }
    await page.close({ runBeforeUnload: true });
    await bed.cluster.until(() => warnings.length > 0);
    expect(warnings).toEqual(['beforeunload']);
    await page.getByLabel('Password').fill('right');
    await page.getByRole('button', { name: 'Decrypt' }).click();
    await page.locator('#content .chunk').first().waitFor();
    expect(await textOf(page)).toBe('read me once');
    expect(reveals).toHaveLength(1);
    expect(await page.getByRole('link', { name: 'Download the encrypted document' }).count()).toBe(0);
    expect(await page.getByText('this page has the only copy').count()).toBe(0);
  });

  it('is not revealed by a browser that could not show it', async () => {
    const { link } = await encrypt('read me once', { burn: true });
    const page = await openLink(link);
    await page.addInitScript(() => Reflect.deleteProperty(globalThis, 'DecompressionStream'));
    await page.reload();
    await page.getByText('This browser cannot decrypt the paste').waitFor();
    expect(await page.getByRole('button', { name: 'Reveal the text' }).count()).toBe(0);
  });

  it('says after its read that it is deleted, and asks before the page is left, until its text is copied', async () => {
    const { link } = await encrypt('read me once', { burn: true });
    const page = await openLink(link);
    await page.getByText('expires in').waitFor();
    await page.getByRole('button', { name: 'Reveal the text' }).click();
    await page.locator('#content .chunk').first().waitFor();
    await page.getByText('The paste is deleted, and only this page has it').waitFor();
    for (const untrue of ['can be read once', 'expires in', 'Report', 'Delete this paste', 'QR code'])
      expect(await page.getByText(untrue).filter({ visible: true }).count()).toBe(0);
    let asked = 0;
    page.on('dialog', (dialog) => void (dialog.type() === 'beforeunload' && (asked += 1)));
    await page.close({ runBeforeUnload: true });
    await bed.cluster.until(() => asked === 1);
    await page.getByRole('button', { name: 'Copy text' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const closed = page.waitForEvent('close');
    await page.close({ runBeforeUnload: true });
    await closed;
    expect(asked).toBe(1);
  });

  it('is read after the key in the address was corrected, without another request, and its document can be kept', async () => {
    const { link } = await encrypt('read me once', { burn: true });
    const key = link.split('#')[1]!;
    const page = await openLink(link.replace(key, `${key.slice(0, -1)}${key.endsWith('1') ? '2' : '1'}`));
    const requested: string[] = [];
    await page.getByRole('button', { name: 'Reveal the text' }).click();
    await page.getByText('this page has the only copy').waitFor();
    page.on('request', (request) => requested.push(request.url()));
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download the encrypted document' }).click();
    expect(await readFile(await (await downloading).path(), 'utf8')).toMatch(/^\{"v":2,"adata":/);
    await page.evaluate((hash) => void (location.hash = hash), 'damaged');
    await page.getByText('The link is incomplete').waitFor();
    await page.evaluate((hash) => void (location.hash = hash), key);
    await page.locator('#content .chunk').first().waitFor();
    expect(await textOf(page)).toBe('read me once');
    await page.evaluate(() => void (location.hash = 'elsewhere'));
    await page.evaluate(() => new Promise((resolve) => void setTimeout(resolve))); // after the event of the change
    expect(await textOf(page)).toBe('read me once');
    expect(await page.getByRole('alert').textContent()).toBe('');
    expect(requested.filter((url) => url.includes(codeOf(link)))).toEqual([]);
  });

  it('is read by the same button after answers that broke off, and a changed address does not lose the key of its reader', async () => {
    const { link } = await encrypt('read me once', { burn: true });
    const page = await openLink(link);
    let reveals = 0;
    let cut = 5; // one more than the page tries by itself
    await page.route('**/reveal', async (route) => {
      reveals += 1;
      const response = await route.fetch(); // the server has revealed the paste
      if (reveals < cut) await route.abort('connectionreset');
      else await route.fulfill({ response });
    });
    const button = page.getByRole('button', { name: 'Reveal the text' });
    await button.click();
    await page.getByText('Press the button again within five minutes').waitFor();
    expect(reveals).toBe(4);
    await page.evaluate(() => void (location.hash = 'elsewhere'));
    await page.evaluate(() => new Promise((resolve) => void setTimeout(resolve))); // after the event of the change
    expect(await page.getByText('Press the button again').count()).toBe(1);
    cut = 6; // the page repeats the next reveal once
    await button.click();
    await page.locator('#content .chunk').first().waitFor();
    expect([await textOf(page), reveals]).toEqual(['read me once', 6]);
  });

  it('is opened also when a program has written %23 for # into its link', async () => {
    const { link } = await encrypt('read me once', { burn: true });
    await bed.cluster.untilStatus(codeOf(link), 'PROCESSED');
    const page = await open(new URL(link.replace('#', '%23')).pathname);
    await page.getByRole('button', { name: 'Reveal the text' }).click();
    await page.locator('#content .chunk').first().waitFor();
    expect([page.url(), await textOf(page)]).toEqual([link, 'read me once']);
  });
});

const chosen = async (page: Page) => ({
  address: new URL(page.url()).pathname + new URL(page.url()).search,
  text: await page.getByLabel('Text').inputValue(),
  burn: await page.locator('#burn').isChecked(),
  encrypt: await page.locator('#encrypt').isChecked(),
  expires: await page.getByLabel('Expires after').inputValue(),
  titleShown: await page.getByLabel('Title').isVisible(),
  languageShown: await page.getByLabel('Language').isVisible(),
});
const SECRET = { burn: true, encrypt: true, expires: '86400', titleShown: false, languageShown: false };
const create = (page: Page) => page.getByRole('button', { name: 'Create secret link' }).click();

async function createdCode(page: Page): Promise<string> {
  const code = codeOf(await page.getByLabel('Link to the paste').inputValue());
  await bed.cluster.untilStatus(code, 'PROCESSED');
  return code;
}

describeInBrowser('the form of a secret', () => {
  it('is another door of the form, which keeps what was typed, and makes an encrypted paste for one reader', async () => {
    const page = await open('/');
    await page.getByLabel('Text').fill('hunter2');
    await page.getByLabel('Title').fill('Door code');
    await page.getByLabel('Expires after').selectOption('3600');
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange'))); // which keeps a draft
    await page.getByRole('link', { name: 'Secret', exact: true }).click();
    expect(await chosen(page)).toEqual({ ...SECRET, address: '/?secret', text: 'hunter2' });
    expect(await page.title()).toContain('New secret');
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain('hunter2');
    await page.getByLabel('Expires after').selectOption('604800');

    await page.getByRole('link', { name: 'Text', exact: true }).click();
    const back = { address: '/', text: 'hunter2', burn: false, encrypt: false, expires: '3600' };
    expect(await chosen(page)).toEqual({ ...back, titleShown: true, languageShown: true });
    expect(await page.getByLabel('Title').inputValue()).toBe('Door code');
    await page.getByRole('link', { name: 'Secret', exact: true }).click();
    expect(await chosen(page)).toMatchObject({ ...SECRET, expires: '604800' });

    await create(page);
    await page.getByText('Copy the link and send it to one person').waitFor();
    const link = await page.getByLabel('Link to the paste').inputValue();
    const another = page.getByRole('link', { name: 'Create another' });
    expect(await another.getAttribute('href')).toBe('/?secret');
    const reader = await openLink(link);
    await reader.getByRole('button', { name: 'Reveal the text' }).click();
    await reader.locator('#content .chunk').first().waitFor();
    expect(await textOf(reader)).toBe('hunter2');
    expect(await reader.getByText('Door code').count()).toBe(0); // the writer no longer saw it
  });

  it.each([
    { colorScheme: 'light' as const, viewport: { width: 390, height: 844 } },
    { colorScheme: 'dark' as const, viewport: { width: 320, height: 480 } },
  ])(
    'has its button in view on a phone, takes files, and breaks no rule of WCAG 2.2 AA: %j',
    async (options) => {
      const page = await open('/?secret', options);
      await page.getByRole('button', { name: 'Create secret link' }).waitFor();
      const bottom = await page
        .locator('#create')
        .evaluate((button) => button.getBoundingClientRect().bottom);
      expect(bottom).toBeLessThanOrEqual(options.viewport.height);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
      const files = ['key.pem', 'key.pub'].map((name) => ({
        name,
        mimeType: 'text/plain',
        buffer: Buffer.from(`of ${name}`),
      }));
      await page.getByLabel('Or files').setInputFiles(files);
      await page.getByRole('group', { name: 'key.pub' }).waitFor();
      expect(await page.getByLabel('Language').filter({ visible: true }).count()).toBe(0);
      expect(await violationsOf(page)).toEqual([]);
      await create(page);
      await page.getByText('Copy the link and send it to one person').waitFor();
      expect(await violationsOf(page)).toEqual([]);
      const code = await createdCode(page);
      expect(await bed.cluster.client().pastes.get(code)).toMatchObject({
        burn: true,
        encrypted: true,
        title: null,
        syntax: null,
        files: null,
      });
      const { pathname, hash } = new URL(await page.getByLabel('Link to the paste').inputValue());
      const reader = await open(pathname + hash, options);
      await reader.getByRole('button', { name: 'Reveal' }).click();
      await reader.getByText('of key.pub').waitFor();
    },
  );

  it('can be sent by no button and no key until its script runs, so that nothing goes unencrypted', async () => {
    const page = await open('/missing123');
    await page.route('**/new-paste*.js', (route) => route.abort());
    const sent: string[] = [];
    page.on('request', (request) => sent.push(request.method()));
    await page.goto(`${bed.cluster.http().url}/?secret`);
    await page.getByLabel('Text').fill('hunter2');
    expect(await page.locator('#create').isDisabled()).toBe(true);
    await page.locator('#burn').press('Enter');
    expect(await page.evaluate(() => document.querySelectorAll('[type=submit]:not(:disabled)').length)).toBe(
      0,
    );
    expect(sent).not.toContain('POST');
  });

  it('says without JavaScript that it can not encrypt, and makes a paste that is read once', async () => {
    const page = await open('/?secret', { javaScriptEnabled: false });
    // Playwright looks for words and roles nowhere in a noscript, also where it is shown.
    const warning = page.locator('noscript p', { hasText: 'This page encrypts only with JavaScript' });
    await warning.waitFor();
    for (const hidden of ['Encrypt in this browser', 'Title', 'Language'])
      expect(await page.getByLabel(hidden).isVisible()).toBe(false);
    const button = page.locator('noscript button', { hasText: 'Create without encryption' });
    await page.getByLabel('Text').fill('hunter2');
    const file = { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('a') };
    await page.getByLabel('Or files').setInputFiles(file);
    await button.click(); // a text and a file
    await page.getByRole('alert').getByText('had a text and a file').waitFor();
    expect(await page.getByLabel('Title').isVisible()).toBe(false);
    expect(await page.getByLabel('Expires after').inputValue()).toBe('86400');
    await button.click();
    const code = await createdCode(page);
    expect(await bed.cluster.client().pastes.get(code)).toMatchObject({ burn: true, encrypted: false });
    await page.getByRole('link', { name: 'Create another' }).click();
    await warning.waitFor();
  });
});
