import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startCluster } from '../../src/index.ts';
import { isBrowserWanted, useBrowser, violationsOf } from './browser.ts';
import { storePaste } from './store-paste.ts';

const describeInBrowser = isBrowserWanted() ? describe : describe.skip;

const bed = useBrowser({ start: () => startCluster(), originOf: (cluster) => cluster.http().url });
const { open } = bed;

const stored = (content: string, parent?: string) =>
  storePaste(bed.cluster, content, parent === undefined ? {} : { parent });

/** The kind and the text of each run of lines. */
const runsOf = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('.change')].map((run) => [
      run.getAttribute('aria-label'),
      run.querySelector('.signs')?.textContent,
      run.querySelector('pre')?.textContent,
    ]),
  );

describeInBrowser('a paste that is made from another', () => {
  it.each([true, false])(
    'is created by "New from this" and shows its changes; JavaScript: %s',
    async (javaScriptEnabled) => {
      const parent = await stored('\none\n<b>two</b>\nthree\n');
      const page = await open(`/${parent}`, { javaScriptEnabled });
      await page.getByText('More', { exact: true }).click();
      await page.getByRole('link', { name: 'New from this' }).click();
      const text = page.getByLabel('Text');
      await text.waitFor();
      expect(await text.inputValue()).toBe('\none\n<b>two</b>\nthree\n');
      await text.fill('\none\n<i>2</i>\nthree\n');
      expect(await page.getByLabel(`Made from ${parent}`).isChecked()).toBe(true);
      if (javaScriptEnabled) expect(await violationsOf(page)).toEqual([]);
      await page.getByRole('button', { name: 'Create paste' }).click();
      await page.getByRole('heading', { name: 'Paste created' }).waitFor();
      const url = await page.getByLabel('Link to the paste').inputValue();
      await bed.cluster.untilStatus(url.split('/').at(-1)!, 'PROCESSED');

      await page.goto(url);
      await page.getByRole('link', { name: 'changes' }).click();
      await page.getByRole('heading', { name: 'Changes of' }).waitFor();
      await page.waitForLoadState(); // the changes stand below
      expect(await runsOf(page)).toEqual([
        [null, ' \n ', '\none\n'],
        ['Removed', '-', '<b>two</b>\n'],
        ['Added', '+', '<i>2</i>\n'],
        [null, ' ', 'three\n'],
      ]);
      if (javaScriptEnabled) expect(await violationsOf(page)).toEqual([]);
      const patch = await (await fetch(`${url}/diff`)).text();
      expect(patch).toContain('-<b>two</b>\n+<i>2</i>\n');
      await page.getByRole('link', { name: parent, exact: true }).click();
      await page.waitForURL(`**/${parent}`);
    },
  );

  it('shows its changes with their styles again, when the browser asks whether they are the same', async () => {
    const child = await stored('new\n', await stored('old\n'));
    const page = await open(`/${child}/diff`);
    const colours = () =>
      page
        .locator('.change.added')
        .first()
        .evaluate((run) => getComputedStyle(run).backgroundColor);
    const first = await colours();
    await page.goto(page.url());
    expect(await colours()).toBe(first);
    expect(await page.evaluate(() => origin)).toBe(bed.cluster.http().url); // a sandboxed page has the origin null
  });

  it('keeps its origin from its readers when the box is unchecked', async () => {
    const parent = await stored('one\n');
    const page = await open(`/${parent}/new`);
    await page.getByLabel(`Made from ${parent}`).uncheck();
    await page.getByRole('button', { name: 'Create paste' }).click();
    const url = await page.getByLabel('Link to the paste').inputValue();
    expect(await bed.cluster.client().pastes.get(url.split('/').at(-1)!)).toMatchObject({ parent: null });
  });

  it('is filled in by the script when the text is long', async () => {
    const long = 'x'.repeat(300 * 1024);
    const page = await open(`/${await stored(long)}/new`);
    await page.waitForFunction(
      (length) => document.querySelector('textarea')?.value.length === length,
      long.length,
    );
  });

  it('has a page of its changes that is read in dark colours, on a narrow screen and on paper', async () => {
    const parent = await stored(Array.from({ length: 60 }, (_, n) => `line ${n}\n`).join(''));
    const child = await stored(
      Array.from({ length: 60 }, (_, n) =>
        n % 20 === 5 ? `changed ${'long '.repeat(60)}${n}\n` : `line ${n}\n`,
      ).join(''),
      parent,
    );
    const page = await open(`/${child}/diff`, {
      colorScheme: 'dark',
      viewport: { width: 320, height: 640 },
    });
    expect(await violationsOf(page)).toEqual([]);
    expect(await page.locator('section.diff').count()).toBe(3);
    const overflows = () => page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    expect(await overflows()).toBe(false);
    await page.emulateMedia({ media: 'print' });
    const signs = await page.evaluate(() =>
      ['.added', '.removed', '.same'].map(
        (run) => getComputedStyle(document.querySelector(run)!, '::before').content,
      ),
    );
    expect(signs).toEqual(['"+"', '"-"', '""']);
    expect(await overflows()).toBe(false); // a long line is wrapped, not cut
  });

  it.each([
    [1280, 'light'],
    [1280, 'dark'],
    [390, 'light'],
    [390, 'dark'],
  ] as const)('shows what has become of each of its files: %i, %s', async (width, colorScheme) => {
    const { pastes } = bed.cluster.client();
    const create = async (files: Readonly<Record<string, string>>, parent?: string): Promise<string> => {
      const contents = Object.entries(files).map(([name, content]) => ({ name, content }));
      const { short_code: code } = await pastes.create(contents, parent === undefined ? {} : { parent });
      await bed.cluster.untilStatus(code, 'PROCESSED');
      return code;
    };
    const same = 'the same\n';
    const older = await create({
      'src/waits.ts': 'const first = 1;\nconst waits = [1, 2, 4];\n',
      'notes.md': '# Notes\n',
      'same.txt': same,
      'a/long/path/of/folders/that/a/narrow/screen/cannot/show/in/one/line.txt': 'moved\n',
    });
    const newer = await create(
      {
        'src/waits.ts': 'const first = 1;\nconst waits = [1, 2, 8];\n',
        'same.txt': same,
        'moved.txt': 'moved\n',
        'src/new.ts': 'export const fresh = true;\n',
        'empty.txt': '',
      },
      older,
    );
    const page = await open(`/${newer}/diff`, { colorScheme, viewport: { width, height: 800 } });
    await page.waitForLoadState();
    const files = await page.locator('#changes > div').evaluateAll((all) =>
      all.map((file) => ({
        name: file.querySelector('h2')?.innerText,
        before: file.querySelector('p')?.innerText,
        runs: [...file.querySelectorAll('.change')].map((run) => [
          run.getAttribute('aria-label'),
          run.querySelector('pre')?.textContent,
        ]),
      })),
    );
    expect(files).toEqual([
      {
        name: 'src/waits.ts Changed',
        runs: [
          [null, 'const first = 1;\n'],
          ['Removed', 'const waits = [1, 2, 4];\n'],
          ['Added', 'const waits = [1, 2, 8];\n'],
        ],
      },
      {
        name: 'moved.txt Renamed',
        before: expect.stringContaining('a/long/path/of/folders'),
        runs: [],
      },
      { name: 'src/new.ts Added', runs: [['Added', 'export const fresh = true;\n']] },
      { name: 'empty.txt Added', runs: [] },
      { name: 'notes.md Removed', runs: [['Removed', '# Notes\n']] },
    ]);
    await page.waitForFunction(() => (CSS.highlights.get('keyword')?.size ?? 0) > 3);
    expect(await violationsOf(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
  });

  it('says why there are no changes to show', async () => {
    const parent = await stored('a\n');
    const child = await stored('b\n', parent);
    const alone = await open(`/${parent}/diff`);
    expect(await alone.locator('h1').innerText()).toContain('404');
    expect(await violationsOf(alone)).toEqual([]);
    const large = await stored(`${'x'.repeat(300 * 1024)}\n`, child);
    const refused = await open(`/${large}/diff`);
    expect(await refused.getByText('are not compared').count()).toBe(1);
    expect(await refused.getByRole('link', { name: /Raw text of/ }).count()).toBe(2);
    expect(await violationsOf(refused)).toEqual([]);
  });
});
