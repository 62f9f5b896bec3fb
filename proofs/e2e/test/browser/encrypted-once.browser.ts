import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { startCluster } from '../../src/index.ts';
import { isBrowserWanted, useBrowser } from './browser.ts';
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
