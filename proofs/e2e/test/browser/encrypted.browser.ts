import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { startCluster } from '../../src/index.ts';
import { isBrowserWanted, useBrowser, violationsOf } from './browser.ts';
import { codeOf, encrypt as encryptIn, openLink as openLinkIn, textOf } from './encrypt.ts';

const describeInBrowser = isBrowserWanted() ? describe : describe.skip;

const bed = useBrowser({ start: () => startCluster(), originOf: (cluster) => cluster.http().url });
const { open } = bed;

const encrypt = (text: string, options = {}) => encryptIn(bed, text, options);
const openLink = (link: string) => openLinkIn(bed, link);

describeInBrowser('a paste that is encrypted in the browser', () => {
  it('is read with its link alone: the server has seen neither the text, nor the title, nor the key', async () => {
    const text = 'const secret = 42; // Grüße <b>\n';
    const { page: created, link } = await encrypt(text, { title: 'secret.ts' });
    expect(link).toMatch(/\/[0-9A-Za-z]{10}#[1-9A-HJ-NP-Za-km-z]{43,44}$/);
    expect(await created.getByRole('link', { name: 'Open the paste' }).getAttribute('href')).toBe(link);
    const requested: string[] = [];
    const page = await openLink(link);
    page.on('request', (request) => requested.push(request.url() + (request.postData() ?? '')));
    await page.reload();
    await page.locator('#content .chunk').first().waitFor();
    expect(await textOf(page)).toBe(text);
    await page.getByRole('heading', { name: 'secret.ts' }).waitFor();
    await page.waitForFunction(() => (CSS.highlights.get('keyword')?.size ?? 0) > 0);
    const key = link.split('#')[1]!;
    expect(requested.length).toBeGreaterThan(2);
    expect(requested.filter((each) => each.includes(key))).toEqual([]);
    const raw = await (await fetch(`${bed.cluster.http().url}/${codeOf(link)}`)).text();
    expect(raw).toMatch(/^\{"v":2,"adata":/);
    expect(await bed.cluster.client().pastes.get(codeOf(link))).toMatchObject({
      encrypted: true,
      title: null,
      syntax: null,
    });
    const logs = JSON.stringify(bed.cluster.services.map(({ log }) => log));
    for (const hidden of [key, 'secret.ts', 'Grüße']) expect(logs).not.toContain(hidden);
  });

  it('is copied, downloaded and shown as a QR code with its key', async () => {
    const text = 'a\tb\n'.repeat(300);
    const { link } = await encrypt(text);
    const page = await openLink(link);
    await page.keyboard.press('Tab');
    await page.locator('.skip:focus').waitFor();
    await page.keyboard.press('Enter');
    await page.locator('main:focus').waitFor();
    expect(page.url()).toBe(link); // the link that skips the navigation keeps the key
    await page.getByRole('button', { name: 'Copy text' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(text);
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download' }).click();
    expect(await readFile(await (await downloading).path(), 'utf8')).toBe(text);
    expect(await page.locator('#qr').getAttribute('data-url')).toBe(link);
    await page.getByRole('button', { name: 'QR code' }).click();
    await page.getByRole('img', { name: 'QR code of the link' }).waitFor();
  });

  it('needs its password, and says when the password is wrong', async () => {
    const { link } = await encrypt('with a password', { password: 'pässword' });
    const page = await openLink(link);
    await page.getByText('The paste has a password, or the key').waitFor();
    await page.getByLabel('Password').fill('wrong');
    await page.getByRole('button', { name: 'Decrypt' }).click();
    await page.getByText('The password or the key in the link is wrong').waitFor();
    expect(await page.locator('#content').isVisible()).toBe(false);
    await page.getByLabel('Password').fill('pässword');
    await page.getByLabel('Password').press('Enter');
    await page.locator('#content .chunk').first().waitFor();
    expect(await textOf(page)).toBe('with a password');
    expect(await page.getByRole('alert').textContent()).toBe('');
  });

  it('stays closed with a changed document, with another key, and without a key', async () => {
    const { link } = await encrypt('closed');
    const code = codeOf(link);
    await bed.cluster.untilStatus(code, 'PROCESSED');
    const page = await open('/');
    await page.route('**/content', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: (await response.text()).replace('"plaintext"', '"markdown"') });
    });
    await page.goto(link);
    await page.getByText('The paste has a password, or the key').waitFor();
    const key = link.split('#')[1]!;
    const other = await openLink(link.replace(key, `${key.slice(0, -1)}${key.endsWith('1') ? '2' : '1'}`));
    await other.getByText('The paste has a password, or the key').waitFor();
    const none = await openLink(link.split('#')[0]!);
    await none.getByText('The link is incomplete').waitFor();
    await none.evaluate((hash) => void (location.hash = hash), key);
    await none.getByText('closed').waitFor();
  });

  it('holds a file that is no text, byte for byte', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'encrypted-'));
    const bytes = Buffer.from([0, 255, 254, 10, 13]);
    await writeFile(join(folder, 'picture.bin'), bytes);
    const page = await open('/');
    await page.getByLabel('Or files').setInputFiles(join(folder, 'picture.bin'));
    await page.getByText('More options').click();
    await page.getByLabel('Encrypt in this browser').check();
    await page.getByRole('button', { name: 'Create paste' }).click();
    const reader = await openLink(await page.getByLabel('Link to the paste').inputValue());
    const downloading = reader.waitForEvent('download');
    await reader.getByRole('link', { name: 'Download picture.bin' }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe('picture.bin');
    expect((await readFile(await download.path())).equals(bytes)).toBe(true);
    await rm(folder, { recursive: true });
  });

  it('shows a hostile text as text', async () => {
    const hostile = '</pre><script>alert(1)</script><img src=x onerror=alert(1)>\u202e';
    const { link } = await encrypt(hostile, { title: '<img src=x onerror=alert(2)>' });
    const page = await openLink(link);
    await page.getByText('change the direction of writing').waitFor();
    expect(await textOf(page)).toBe(hostile.replace('\u202e', '[U+202E]'));
    expect(await page.locator('main img').count()).toBe(0);
  });
});

describeInBrowser('the pages of encryption', () => {
  it('break no rule of WCAG 2.2 AA, in both themes and on a narrow screen', async () => {
    const { link } = await encrypt('const a = 1;', { password: 'x' });
    await bed.cluster.untilStatus(codeOf(link), 'PROCESSED');
    const { pathname, hash } = new URL(link);
    for (const options of [
      { colorScheme: 'dark' as const },
      { colorScheme: 'light' as const, viewport: { width: 320, height: 640 } },
    ]) {
      const form = await open('/', options);
      await form.getByText('More options').click();
      await form.getByLabel('Encrypt in this browser').check();
      expect(await violationsOf(form)).toEqual([]);
      const page = await open(pathname + hash, options);
      await page.getByText('The paste has a password').waitFor();
      expect(await violationsOf(page)).toEqual([]);
      await page.getByLabel('Password').fill('x');
      await page.getByRole('button', { name: 'Decrypt' }).click();
      await page.locator('#content .chunk').first().waitFor();
      expect(await violationsOf(page)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    }
  });

  it('say without JavaScript what is needed, and offer no encryption', async () => {
    const { link } = await encrypt('needs a script');
    await bed.cluster.untilStatus(codeOf(link), 'PROCESSED');
    const page = await open(new URL(link).pathname, { javaScriptEnabled: false });
    await page.getByText('a browser needs JavaScript to decrypt it').waitFor();
    const form = await open('/', { javaScriptEnabled: false });
    expect(await form.getByLabel('Encrypt in this browser').isVisible()).toBe(false);
  });
});
