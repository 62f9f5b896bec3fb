import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import type { BrowserContextOptions, Download, Locator, Page } from 'playwright-core';
import { startCluster } from '../../src/index.ts';
import { isBrowserWanted, useBrowser, violationsOf } from './browser.ts';

const describeInBrowser = isBrowserWanted() ? describe : describe.skip;

const bed = useBrowser({ start: () => startCluster(), originOf: (cluster) => cluster.http().url });
const PHONE = { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true };

const FILES = [
  { name: 'src/main.ts', content: 'const a = 1;\n'.repeat(40) },
  { name: 'README.md', content: '# First\n\nSee [below](#part).\n\n## Part\n' },
  { name: 'docs/README.md', content: `${'text\n\n'.repeat(40)}## Part\n` },
  { name: 'empty.txt', content: '' },
];

/** The page of a stored paste of several files. */
async function opened(
  part = '',
  options: BrowserContextOptions = {},
  paste: object = {},
  files: readonly object[] = FILES,
): Promise<Page> {
  const { url } = bed.cluster.http();
  const answer = await fetch(`${url}/v1/pastes`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ files, ...paste }),
  });
  const { short_code: code } = (await answer.json()) as { short_code: string };
  await bed.cluster.untilStatus(code, 'PROCESSED');
  return await bed.open(`/${code}${part}`, options);
}

/** Presses a button. @returns the file that the browser saves: in this window or in a new one */
async function saved(page: Page, button: Locator): Promise<readonly [name: string, bytes: Buffer]> {
  const { promise, resolve } = Promise.withResolvers<Download>();
  page.once('download', resolve);
  page.context().once('page', (other) => void other.once('download', resolve));
  await button.click();
  const download = await promise;
  return [download.suggestedFilename(), await readFile(await download.path())];
}

const selected = (page: Page) =>
  page.evaluate(() => [...document.querySelectorAll('.selected')].map(({ id }) => id));

describeInBrowser('the page of several files', () => {
  it('selects lines of one file at a time, by the address, by clicks and by the keyboard', async () => {
    const page = await opened('#f1-L30-L32');
    await page.locator('#f1-L32.selected').waitFor();
    expect(await selected(page)).toEqual(['f1-L30', 'f1-L31', 'f1-L32']);
    await page.waitForFunction(() => scrollY > 100);
    expect(await page.locator('#f1 > .bar #copy-lines').isVisible()).toBe(true);

    await page.locator('#f3').getByRole('button', { name: 'Source' }).click();
    await page.locator('#f3-L2').click({ position: { x: 5, y: 10 } });
    await page.waitForFunction(() => location.hash === '#f3-L2');
    await page.locator('#f3-L2.selected').waitFor();
    expect(await selected(page)).toEqual(['f3-L2']);
    await page.locator('#f3 > .bar #copy-lines').click();
    await page.waitForFunction(
      (url) => navigator.clipboard.readText().then((text) => text === url),
      page.url(),
    );

    await page.getByText('More', { exact: true }).click();
    await page.getByLabel('File', { exact: true }).selectOption('src/main.ts');
    await page.getByLabel('Select lines').fill('4-5');
    await page.keyboard.press('Enter');
    await page.locator('#f1-L5.selected').waitFor();
    expect(await selected(page)).toEqual(['f1-L4', 'f1-L5']);
    expect(await page.locator('#selected-lines').innerText()).toBe('Lines 4 to 5 are selected.');
    expect(new URL(page.url()).hash).toBe('#f1-L4-L5');
  });

  it('shows the text of each file as that of a page alone: Markdown as it looks, and colours', async () => {
    const page = await opened();
    const first = page.locator('#f2 article.rendered');
    await first.getByRole('heading', { name: 'First' }).waitFor();
    await page.waitForFunction(() => (CSS.highlights.get('keyword')?.size ?? 0) > 0);
    await page.locator('#f3').scrollIntoViewIfNeeded();
    await page.locator('#f3 article.rendered').waitFor();
    // Each file has a part of this name.
    await first.getByRole('link', { name: 'below' }).click();
    await page.waitForFunction(() => location.hash.startsWith('#f2-'));
    expect(await page.locator(':target').evaluate((part) => part.closest('.file')?.id)).toBe('f2');
    await page.evaluate(() => (location.hash = '#f2-L3'));
    await page.locator('#f2-L3.selected').waitFor();
    expect(await first.isVisible()).toBe(false);
    expect(await page.locator('#f4').innerText()).toContain('This file is empty.');
  });

  it('copies the exact text of each file, and saves one or all of them', async () => {
    const files = [
      { name: 'a/crlf.txt', content: '\ufeffone\r\ntwo' },
      { name: 'b c.txt', content: 'three\n' },
    ];
    const page = await opened('', {}, {}, files);
    for (const [id, text] of [
      ['#f1', files[0]!.content],
      ['#f2', files[1]!.content],
    ] as const) {
      await page.locator(id).getByRole('button', { name: 'Copy text' }).click();
      await page.waitForFunction(
        (expected) => navigator.clipboard.readText().then((copied) => copied === expected),
        text,
      );
    }
    for (const [link, name] of [
      [page.locator('#f2').getByRole('link', { name: 'Download' }), 'b c.txt'],
      [page.getByRole('link', { name: 'Download all' }), /\.zip$/],
    ] as const) {
      expect((await saved(page, link))[0]).toMatch(name);
    }
  });

  it.each([
    ['a wide window', {}],
    ['a phone', PHONE],
    ['dark colours', { colorScheme: 'dark' }],
  ] as const)('can be used by everybody, and needs no scrolling to the side: %s', async (_name, options) => {
    const page = await opened('', options);
    await page.locator('#f2 article.rendered').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  });

  it('leads to each file and to each line without JavaScript', async () => {
    const page = await opened('#f1-L40', { javaScriptEnabled: false });
    const row = page.locator('#f1-L40');
    expect(await row.evaluate((each) => getComputedStyle(each).backgroundColor)).not.toBe('rgba(0, 0, 0, 0)');
    await page.getByRole('link', { name: 'docs/README.md' }).first().click();
    expect(await page.locator('#f3').isVisible()).toBe(true);
    expect(new URL(page.url()).hash).toBe('#f3');
    expect(await page.locator('#f2').innerText()).toContain('# First');
    expect(await page.locator('button:visible').count()).toBe(
      await page.locator('#languages button').count(),
    );
  });

  it('has the name of each file on paper, and nothing to press', async () => {
    const page = await opened();
    await page.locator('#f2 article.rendered').waitFor();
    await page.emulateMedia({ media: 'print' });
    for (const { name } of FILES)
      expect(await page.getByRole('heading', { name, exact: true }).isVisible()).toBe(true);
    expect(await page.locator(':is(button, select, input, summary, footer, .button):visible').count()).toBe(
      0,
    );
  });

  it('of a paste that is read once has all files, whose texts are copied from it', async () => {
    const files = [
      { name: 'a.txt', content: 'first\r\nfile\n' },
      { name: 'b.txt', content: 'second' },
    ];
    const page = await opened('', {}, { burn: true }, files);
    expect(await page.locator('.files li').allInnerTexts()).toHaveLength(2);
    await page.getByRole('button', { name: 'Reveal the files' }).click();
    await page.locator('#f2').waitFor();
    await page.locator('#f2').getByRole('button', { name: 'Copy text' }).click();
    await page.locator('#f2').getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('second');
    expect(await violationsOf(page)).toEqual([]);
    const [name, bytes] = await saved(page, page.locator('#f1').getByRole('button', { name: 'Download' }));
    expect([name, bytes.toString()]).toEqual(['a.txt', 'first\r\nfile\n']);
    const [archive, zip] = await saved(page, page.getByRole('button', { name: 'Download all' }));
    expect([archive, zip.subarray(0, 2).toString()]).toEqual([expect.stringMatching(/\.zip$/), 'PK']);
    expect(zip.toString()).toContain('first\r\nfile\n');
  });
});
