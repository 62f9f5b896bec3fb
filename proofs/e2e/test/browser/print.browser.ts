import { inflateSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startCluster } from '../../src/index.ts';
import { isBrowserWanted, openSignedIn, useBrowser } from './browser.ts';
import { ask } from './requests.ts';
import { storePaste } from './store-paste.ts';

const describeInBrowser = isBrowserWanted() ? describe : describe.skip;
const DARK = { colorScheme: 'dark' } as const;

const bed = useBrowser({ start: () => startCluster(), originOf: (cluster) => cluster.http().url });

const print = (page: Page): Promise<void> => page.emulateMedia({ media: 'print' });

/** The pages of a PDF, and how often they write a run of characters. */
function writtenIn(pdf: Buffer): { readonly pages: number; readonly runs: number } {
  const text = pdf.toString('latin1');
  let runs = 0;
  for (const { index, 0: start, 1: length } of text.matchAll(/\/Length (\d+)>>\s+stream\r?\n/g)) {
    const bytes = pdf.subarray(index + start.length, index + start.length + Number(length));
    if (text.slice(index - 40, index + start.length).includes('/FlateDecode') || bytes[0] === 0x78)
      runs +=
        inflateSync(bytes)
          .toString('latin1')
          .match(/\bT[jJ]\b/g)?.length ?? 0;
  }
  return { pages: text.match(/\/Type \/Page\b/g)?.length ?? 0, runs };
}

describeInBrowser('a paste on paper', () => {
  it('is black on white also in dark mode, and has nothing to press', async () => {
    const { token, pastes } = await bed.cluster.user('prints a paste');
    const { short_code: code } = await pastes.create(Buffer.from('const a = 1;\n'.repeat(20)), {
      title: 'a.ts',
    });
    await bed.cluster.untilStatus(code, 'PROCESSED');
    const page = await openSignedIn(bed, { path: `/${code}`, token, options: DARK });
    await page.goto(`${page.url()}#L2-L3`);
    await page.waitForFunction(() => (CSS.highlights.get('keyword')?.size ?? 0) > 0);
    await page.getByText('More', { exact: true }).click();
    await page.getByRole('button', { name: 'QR code' }).click();
    await page.locator('svg.qr').waitFor();
    await print(page);
    expect(
      await page.locator(':is(button, .button, select, input, summary, nav, footer, svg):visible').count(),
    ).toBe(0);
    const colours = await page.evaluate(() =>
      ['body', 'h1', '#content', '#L2'].map((selector) => {
        const { color, backgroundColor } = getComputedStyle(document.querySelector(selector)!);
        return [selector, color, backgroundColor];
      }),
    );
    const white = 'rgb(255, 255, 255)';
    expect(colours).toEqual([
      ['body', 'rgb(0, 0, 0)', white],
      ['h1', 'rgb(0, 0, 0)', 'rgba(0, 0, 0, 0)'],
      ['#content', 'rgb(0, 0, 0)', 'rgba(0, 0, 0, 0)'],
      ['#L2', 'rgb(0, 0, 0)', 'rgba(0, 0, 0, 0)'],
    ]);
    const painted = await page.evaluate(() =>
      ['keyword', 'number'].map((name) => {
        const row = document.querySelector('#L2')!;
        const { color, backgroundColor } = getComputedStyle(row, `::highlight(${name})`);
        return [name, color, backgroundColor];
      }),
    );
    for (const [name, color, background] of painted)
      expect([name, color, background]).toEqual([name, 'rgb(0, 0, 0)', 'rgba(0, 0, 0, 0)']);
  });

  it('has long lines whole', async () => {
    const code = await storePaste(bed.cluster, `short\n${'word '.repeat(400)}\n${'x'.repeat(3000)}\n`);
    const page = await bed.open(`/${code}`);
    await print(page);
    expect(
      await page.evaluate(() => [
        document.documentElement.scrollWidth - innerWidth,
        document.querySelector('#content')!.scrollWidth - document.querySelector('#content')!.clientWidth,
      ]),
    ).toEqual([0, 0]);
    const numbers = await page.evaluate(() =>
      [...document.querySelectorAll('[data-n]')].map((row) => getComputedStyle(row, '::before').content),
    );
    expect(numbers).toEqual(['"1" / ""', '"2" / ""', '"3" / ""']); // screen readers read nothing
    const facts = await page.locator('.line').innerText();
    expect(facts).toContain(`/${code}`);
    expect(facts).toMatch(/[A-Z][a-z]{2} \d+, \d{4}, \d\d:\d\d:\d\d UTC/);
    expect(facts).not.toMatch(/ago|now|in \d+ days/);
  });

  it('has links as a whole, of which a field shows a part', async () => {
    const { token } = await bed.cluster.user('prints');
    const { page, own } = await ask(bed, token);
    await page.pdf({ format: 'A4' });
    await print(page);
    const printed = page.locator('.copyable:has(#own)');
    const text = await printed.evaluate((box) => getComputedStyle(box, '::after').content);
    expect(text).toBe(JSON.stringify(bed.cluster.http().url + own));
    expect(await page.locator('input:visible').count()).toBe(0);
    await page.setViewportSize({ width: 500, height: 800 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
    expect(await printed.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
  });

  it('has every line of a large text', async () => {
    const lines = 20_000;
    const code = await storePaste(bed.cluster, 'one line of a large text\n'.repeat(lines));
    const page = await bed.open(`/${code}`, DARK);
    const { pages, runs } = writtenIn(await page.pdf({ format: 'A4', printBackground: true }));
    expect(pages).toBeGreaterThan((lines * 20) / 1122); // a line has 20 px, and an A4 page 1122
    expect(runs).toBeGreaterThanOrEqual(lines);
  });

  it('has the whole of a rendered Markdown text', async () => {
    const paragraphs = 300;
    const code = await storePaste(
      bed.cluster,
      `${'A paragraph.\n\n'.repeat(paragraphs)}    ${'x'.repeat(2000)}\n`,
      {
        title: 'a.md',
      },
    );
    const page = await bed.open(`/${code}`, DARK);
    await page.locator('article.rendered').waitFor();
    const { pages, runs } = writtenIn(await page.pdf({ format: 'A4' }));
    expect(runs).toBeGreaterThanOrEqual(paragraphs);
    expect(pages).toBeGreaterThan((paragraphs * 24) / 1122);
    await print(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
  });
});
