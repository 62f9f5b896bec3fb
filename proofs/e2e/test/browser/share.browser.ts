import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startCluster } from '../../src/index.ts';
import { isBrowserWanted, openSignedIn, useBrowser, violationsOf } from './browser.ts';
import { storePaste } from './store-paste.ts';

const describeInBrowser = isBrowserWanted() ? describe : describe.skip;

const bed = useBrowser({ start: () => startCluster(), originOf: (cluster) => cluster.http().url });
const { open } = bed;

const clipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText());
const PHONE = { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true };

/** Keeps what the page shares in place of the sheet of a phone. */
async function withSheet(page: Page, answer: 'shares' | 'is closed'): Promise<void> {
  await page.addInitScript((rejects) => {
    Object.assign(navigator, {
      share: async (data: ShareData) => {
        document.documentElement.dataset['shared'] = JSON.stringify(data);
        if (rejects) throw new DOMException('', 'AbortError');
      },
    });
  }, answer === 'is closed');
  await page.reload();
}
const sharedOn = (page: Page) => page.evaluate(() => document.documentElement.dataset['shared']);

describeInBrowser('the link of a paste', () => {
  it('is copied by the first button, and that of lines while lines are selected', async () => {
    const code = await storePaste(bed.cluster, 'line\n'.repeat(9), { title: 'a.ts' });
    const url = `${bed.cluster.http().url}/${code}`;
    const page = await open(`/${code}.ts?language=rust`);
    const first = page.locator('.bar :is(a, button, summary)').first();
    expect(await first.innerText()).toBe('Copy link');
    await first.press('Enter');
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await clipboard(page)).toBe(url);
    const lines = page.getByRole('button', { name: 'Copy link to lines' });
    expect(await lines.count()).toBe(0);
    await page.locator('#L3').click({ position: { x: 5, y: 10 } });
    await page.locator('#L6').click({ position: { x: 5, y: 10 }, modifiers: ['Shift'] });
    await lines.click();
    await page.waitForFunction(
      (expected) => navigator.clipboard.readText().then((text) => text === expected),
      `${url}#L3-L6`,
    );
    await page.getByText('More', { exact: true }).click();
    await page.getByLabel('Select lines').fill('');
    await page.keyboard.press('Enter');
    await lines.waitFor({ state: 'detached' });
  });

  it('to lines is that of the version, because a slug may move', async () => {
    const { pastes } = await bed.cluster.user('slugs');
    const { short_code, url } = await pastes.create(Buffer.from('a\nb\n'), { slug: 'moves' });
    await bed.cluster.untilStatus(short_code, 'PROCESSED');
    const page = await open('/~moves#L2');
    await page.locator('#copy-lines').click();
    await page.locator('#copy-lines', { hasText: 'Copied' }).waitFor();
    expect(await clipboard(page)).toBe(`${bed.cluster.http().url}/${short_code}#L2`);
    await page.keyboard.press('y');
    await page.locator('#copy-link', { hasText: 'Copied' }).waitFor();
    expect(await clipboard(page)).toBe(url);
  });

  it('is shared by the sheet of a phone, also that of lines, which move nothing', async () => {
    const code = await storePaste(bed.cluster, 'line\n'.repeat(9));
    const page = await open(`/${code}`, PHONE);
    await withSheet(page, 'is closed');
    await page.getByRole('button', { name: 'Share', exact: true }).click();
    const url = `${bed.cluster.http().url}/${code}`;
    expect(JSON.parse((await sharedOn(page))!)).toEqual({ title: await page.title(), url });
    const top = await page.locator('#content').evaluate((box) => box.getBoundingClientRect().top);
    await page.locator('#L3').click({ position: { x: 5, y: 10 } });
    const lines = page.locator('#copy-lines', { hasText: 'Share' });
    await lines.waitFor();
    expect(await page.locator('#content').evaluate((box) => box.getBoundingClientRect().top)).toBe(top);
    await lines.click();
    expect(JSON.parse((await sharedOn(page))!)).toMatchObject({ url: `${url}#L3` });
    expect(await violationsOf(page)).toEqual([]);
  });

  it('of a paste that was just created can be shared at once, where there is a sheet', async () => {
    const page = await open('/', PHONE);
    await withSheet(page, 'shares');
    await page.getByLabel('Text').fill('x');
    await page.getByRole('button', { name: 'Create paste' }).click();
    await page.getByRole('button', { name: 'Share', exact: true }).click();
    const url = await page.getByLabel('Link to the paste').inputValue();
    expect(JSON.parse((await sharedOn(page))!)).toEqual({ url });
  });

  it('of an image is copied, too', async () => {
    const code = await storePaste(bed.cluster, Buffer.from('GIF89a\0\0'));
    const page = await open(`/${code}`);
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await clipboard(page)).toBe(`${bed.cluster.http().url}/${code}`);
  });
});

describeInBrowser('the menu of a paste', () => {
  it('copies the text as Markdown, and the command that reads it', async () => {
    const text = 'const a = `\n```\n`;';
    const code = await storePaste(bed.cluster, text, { title: 'a.ts' });
    const page = await open(`/${code}`);
    await page.getByText('More', { exact: true }).click();
    await page.getByRole('button', { name: 'Copy as Markdown' }).click();
    await page.locator('#copy-markdown', { hasText: 'Copied' }).waitFor();
    expect(await clipboard(page)).toBe(`\`\`\`\`typescript\n${text}\n\`\`\`\`\n`);
    await page.locator('#copy-curl').click();
    await page.locator('#copy-curl', { hasText: 'Copied' }).waitFor();
    expect(await clipboard(page)).toBe(`curl ${bed.cluster.http().url}/${code}`);
    expect(await violationsOf(page)).toEqual([]);
  });

  it('shows the command without JavaScript, and that the command for a private paste needs a token', async () => {
    const { token, pastes } = await bed.cluster.user('private');
    const { short_code, url } = await pastes.create(Buffer.from('mine'), { visibility: 'private' });
    await bed.cluster.untilStatus(short_code, 'PROCESSED');
    const options = { javaScriptEnabled: false };
    const page = await openSignedIn(bed, { path: `/${short_code}`, token, options });
    await page.getByText('More', { exact: true }).click();
    expect(await page.locator('#curl').innerText()).toBe(`curl -H "Authorization: Bearer $TOKEN" ${url}`);
  });
});

describeInBrowser('a text that another program shares', () => {
  it('begins the form, leaves the address, and stays when the page is loaded again', async () => {
    const page = await open('/?title=a.py&text=print(1)');
    const text = page.getByLabel('Text');
    expect([await text.inputValue(), await page.getByLabel('Title').inputValue()]).toEqual([
      'print(1)',
      'a.py',
    ]);
    await page.waitForFunction(() => location.search === '');
    await page.locator('#syntax option', { hasText: 'Detected: Python' }).waitFor({ state: 'attached' });
    await page.reload();
    expect(await text.inputValue()).toBe('print(1)');
  });
});

describeInBrowser('the key /', () => {
  it('goes to the field that filters the list, where it is written as any other', async () => {
    const { token, pastes } = await bed.cluster.user('searches');
    await pastes.create(Buffer.from('x'), { title: 'the title' });
    const page = await openSignedIn(bed, { path: '/my/pastes', token, options: {} });
    await page.keyboard.press('/');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('title');
    await page.keyboard.type('a/b');
    expect(await page.locator('#title').inputValue()).toBe('a/b');
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
    await page.getByRole('dialog').getByText('Title or file name contains').waitFor();
  });
});
