import { afterEach, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startCluster } from '../../src/index.ts';
import { isBrowserWanted, useBrowser, violationsOf } from './browser.ts';
import { storePaste, type PasteOptions } from './store-paste.ts';

const describeInBrowser = isBrowserWanted() ? describe : describe.skip;
const NARROW = { viewport: { width: 320, height: 640 } };

const bed = useBrowser({
  start: () => startCluster({ env: { UPLOAD_RETRY_DELAYS_MS: '200,200' } }),
  originOf: (cluster) => cluster.http().url,
});
const { open } = bed;
afterEach(() => bed.cluster?.s3.clear());

const stored = (content: string | Buffer, options?: PasteOptions) =>
  storePaste(bed.cluster, content, options);

/** How many ranges of each kind the page paints. */
const painted = (page: Page) =>
  page.evaluate(() =>
    Object.fromEntries([...CSS.highlights].map(([name, highlight]) => [name, highlight.size] as const)),
  );

const textOf = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('.chunk > :is([data-n], pre)')].map((each) => each.textContent).join(''),
  );

const whiteSpaceOf = (page: Page) =>
  page.evaluate(() => getComputedStyle(document.querySelector('.content [data-n]')!).whiteSpace);

describeInBrowser('a new paste', () => {
  it('is created with the keyboard, and shown with its colours', async () => {
    const page = await open('/');
    await page.locator('#text:focus').waitFor();
    await page.keyboard.type('const answer = 42; // why');
    await page.getByLabel('Title').fill('answer.ts');
    await page.getByLabel('Text').press('Control+Enter');
    await page.getByRole('heading', { name: 'Paste created' }).waitFor();
    const url = await page.getByLabel('Link to the paste').inputValue();
    expect(await page.getByLabel('Delete token').inputValue()).not.toBe('');
    expect(page.url()).not.toContain(await page.getByLabel('Delete token').inputValue());

    await page.getByRole('link', { name: 'Open the paste' }).press('Enter');
    await page.waitForURL(url);
    await page.locator('#content').waitFor(); // also when the page of an upload in progress came first
    await page.waitForFunction(() => (CSS.highlights.get('keyword')?.size ?? 0) > 0);
    expect(await painted(page)).toMatchObject({ keyword: 1, number: 1, comment: 1 });
    expect(await page.evaluate(() => document.querySelectorAll('.content [data-n] *').length)).toBe(0);
  });

  it('leaves the text with Esc and Tab, and writes a tab otherwise', async () => {
    const page = await open('/');
    await page.locator('#text:focus').waitFor();
    await page.keyboard.type('a');
    await page.keyboard.press('Tab');
    expect(await page.getByLabel('Text').inputValue()).toBe('a\t');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('add-file');
  });

  it.each([
    { width: 1280, height: 800 },
    { width: 390, height: 844 },
    { width: 320, height: 480 },
  ])('has the button in view, and the language that is detected as its choice: %j', async (viewport) => {
    const page = await open('/', { viewport });
    const bottom = await page.locator('#create').evaluate((button) => button.getBoundingClientRect().bottom);
    expect(bottom).toBeLessThanOrEqual(viewport.height);
    await page.getByLabel('Text').fill('{"a": 1}');
    await page.locator('#syntax option', { hasText: 'Detected: JSON' }).waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'Create paste' }).click();
    const url = await page.getByLabel('Link to the paste').inputValue();
    const answer = await fetch(url.replace(/([^/]+)$/, 'v1/pastes/$1'));
    expect(await answer.json()).toMatchObject({ syntax: 'json' });
  });

  it('keeps the text when the server refuses it', async () => {
    const page = await open('/');
    await page.getByLabel('Text').fill('x');
    await page.evaluate(() =>
      document.querySelector('#expires_in option:checked')!.setAttribute('value', '1'),
    );
    await page.getByRole('button', { name: 'Create paste' }).click();
    await page.getByText('must be whole seconds').waitFor();
    expect(await page.getByLabel('Text').inputValue()).toBe('x');
  });

  it('starts with the text of another paste', async () => {
    const page = await open(`/${await stored('the text before')}`);
    await page.getByText('More', { exact: true }).click();
    await page.getByRole('link', { name: 'New from this' }).click();
    await page.waitForFunction(() => document.querySelector('textarea')?.value === 'the text before');
  });
});

describeInBrowser('without JavaScript', () => {
  it('a paste is created, read and deleted', async () => {
    const page = await open('/', { javaScriptEnabled: false });
    await page.getByLabel('Text').fill('first\nsecond\n');
    await page.getByRole('button', { name: 'Create paste' }).click();
    const url = await page.getByLabel('Link to the paste').inputValue();
    const token = await page.getByLabel('Delete token').inputValue();
    await bed.cluster.untilStatus(url.split('/').at(-1)!, 'PROCESSED');
    expect(await (await fetch(url)).text()).toBe('first\nsecond\n');

    await page.getByRole('link', { name: 'Open the paste' }).click();
    await page.waitForURL(url);
    expect(await page.locator('.content').textContent()).toContain('first\nsecond');
    await page.getByText('Delete this paste').click();
    await page.getByLabel('Delete token').fill(token);
    await page.getByRole('button', { name: 'Delete permanently' }).click();
    await page.getByRole('heading', { name: 'Paste deleted' }).waitFor();
    expect((await fetch(url)).status).toBe(410);
  });
});

describeInBrowser('the page of a paste', () => {
  it('waits for an upload in progress and then shows the text', async () => {
    const put = bed.cluster.s3.hold({ method: 'PUT' });
    const { short_code } = await bed.cluster.client().pastes.create(Buffer.from('late text'));
    const held = await put;
    const page = await open(`/${short_code}`);
    await page.getByText('The upload of this paste is in progress').waitFor();
    await held.forward();
    await page.getByText('late text').waitFor();
  });

  it('says when the upload fails', async () => {
    bed.cluster.s3.rule({ method: 'PUT' }, { kind: 'fail', status: 500 });
    const { short_code } = await bed.cluster.client().pastes.create(Buffer.from('never stored'));
    const page = await open(`/${short_code}`);
    await page.getByText('The upload of this paste failed').waitFor();
  });

  it('copies the exact text, wraps lines and shows a QR code', async () => {
    const text = `\ufeff${'a\tb\n'.repeat(300)}`;
    const page = await open(`/${await stored(text)}`);
    await page.getByRole('button', { name: 'Copy text' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(text);
    await page.getByRole('button', { name: 'Wrap' }).click();
    expect(await whiteSpaceOf(page)).toBe('pre-wrap');
    await page.reload(); // the choice is remembered
    expect(await whiteSpaceOf(page)).toBe('pre-wrap');
    await page.getByText('More', { exact: true }).click();
    await page.getByRole('button', { name: 'QR code' }).click();
    await page.getByRole('img', { name: 'QR code of' }).waitFor();
  });

  it('is shown in another language, with and without JavaScript', async () => {
    const code = await stored('const x = 1;\n', { syntax: 'typescript' });
    const page = await open(`/${code}`);
    await page.getByLabel('Language').selectOption('Python');
    await page.waitForURL(`**/${code}?language=python`);
    expect(await page.locator('#content').getAttribute('data-language')).toBe('python');
    const plain = await open(`/${code}`, { javaScriptEnabled: false });
    await plain.getByLabel('Language').selectOption('Rust');
    await plain.getByRole('button', { name: 'Show' }).click();
    await plain.locator('#content[data-language=rust]').waitFor();
  });

  it('keeps the height of the lines that are out of view', async () => {
    const page = await open(`/${await stored('line\n'.repeat(100_000))}`);
    const height = await page.evaluate(() => document.querySelector('#content')!.scrollHeight);
    expect(height).toBe(100_000 * 20 + 16); // and the padding
  });
});

describeInBrowser('a hostile paste', () => {
  const marks = '\u202e\u2066';
  it.each([
    ['a script', '<script>alert(1)</script>'],
    ['an SVG', '<svg onload=alert(1)><script>alert(2)</script></svg>'],
    ['the end of its element', '</pre></section><img src=x onerror=alert(1)><!--'],
    ['a comment and CDATA', '<!-- --><![CDATA[ <style>*{display:none}</style>'],
    ['marks of direction', `if (admin) {${marks} // }`],
  ])('is text and nothing else: %s', async (_name, text) => {
    const page = await open(`/${await stored(text, { title: text.replaceAll('\n', ' '), syntax: 'html' })}`);
    expect(await textOf(page)).toBe(text.replace('\u202e', '[U+202E]').replace('\u2066', '[U+2066]'));
    expect(await page.locator('h1 bdi').textContent()).toBe(text);
    expect(await page.locator('main :is(script, svg, img, style)').count()).toBe(0);
    expect(await page.getByText('change the direction of writing').count()).toBe(
      text.includes(marks) ? 1 : 0,
    );
  });

  it('with bytes that are no text has a note on its page', async () => {
    const page = await open(`/${await stored(Buffer.from('a\xe9b\r\nc', 'latin1'))}`);
    expect(await textOf(page)).toBe('a\ufffdb\nc');
    await page.getByText('are not UTF-8 and').waitFor();
  });

  it.each([
    ['on one line', () => 'x'.repeat(10 * 1024 * 1024)],
    ['of TypeScript', () => 'export const answer: number = 42; // the answer\n'.repeat(218_000)],
    ['in 5 million lines', () => 'x\n'.repeat(5 * 1024 * 1024)],
    ['in 10 million empty lines', () => '\n'.repeat(10 * 1024 * 1024)],
  ])('of 10 MiB does not freeze the tab and takes at most 300 MB: %s', async (name, make) => {
    const page = await open(`/${await stored(make(), { syntax: 'typescript' })}`);
    // No locator, which would collect the text of each element in the renderer that is measured.
    await page.waitForFunction(() => document.querySelector('#wrap:not([hidden])') !== null); // the module has run
    const notes = await page.evaluate(() => document.querySelector('.content .warning')?.textContent);
    if (name.includes('million')) expect(notes).toContain('The page shows the first 300,032 lines');
    const session = await page.context().newCDPSession(page);
    const { metrics } = await session
      .send('Performance.enable')
      .then(() => session.send('Performance.getMetrics'));
    const heap = metrics.find(({ name }) => name === 'JSHeapUsedSize')!.value;
    const memory = await rendererBytes(page);
    expect(Math.max(heap, memory)).toBeLessThan(300 * 1024 * 1024);
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight / 2)); // answers, so that it is not frozen
  });
});

/** The private memory of the page's renderer, from /proc: the largest of the browser's renderers. */
async function rendererBytes(page: Page): Promise<number> {
  const session = await page.context().browser()!.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const { readFileSync } = await import('node:fs');
  const sizes = processInfo
    .filter(({ type }) => type === 'renderer')
    .map(({ id }) => {
      const [, kib = '0'] = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${id}/status`, 'utf8')) ?? [];
      return Number(kib) * 1024;
    });
  return Math.max(...sizes);
}

describeInBrowser('every page', () => {
  it.each([
    ['wide and light', { colorScheme: 'light' }],
    ['wide and dark', { colorScheme: 'dark' }],
    ['narrow, with reduced motion', { ...NARROW, reducedMotion: 'reduce' }],
  ] as const)('keeps WCAG 2.2 AA and its width: %s', async (_name, options) => {
    const code = await stored('const x = 1; // a comment\n'.repeat(300), {
      title: 'A title',
      syntax: 'javascript',
    });
    const page = await open('/', options);
    for (const path of ['/', `/${code}`, `/${code}/timeline`, '/missing123']) {
      await page.goto(bed.cluster.http().url + path);
      await page.locator('h1').waitFor();
      expect([path, await violationsOf(page)]).toEqual([path, []]);
      const [width, shown] = await page.evaluate(
        () => [document.documentElement.scrollWidth, innerWidth] as const,
      );
      expect([path, width]).toEqual([path, shown]);
    }
  });
});
