import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startCluster } from '../../src/index.ts';
import { isBrowserWanted, useBrowser } from './browser.ts';
import { storePaste } from './store-paste.ts';

const describeInBrowser = isBrowserWanted() ? describe : describe.skip;

const bed = useBrowser({ start: () => startCluster(), originOf: (cluster) => cluster.http().url });
const { open } = bed;

const untilPainted = (page: Page, kind: string) =>
  page.waitForFunction((name) => (CSS.highlights.get(name)?.size ?? 0) > 0, kind);

/** The painted texts of a kind. */
const paintedTexts = (page: Page, kind: string) =>
  page.evaluate(
    (name) =>
      [...CSS.highlights.get(name)!].map(({ startContainer, startOffset, endOffset }) =>
        (startContainer as Text).data.slice(startOffset, endOffset),
      ),
    kind,
  );

describeInBrowser('the colours of a text', () => {
  it.each([
    ['a.ts', 'open(door.lock as Door);\n', 'call', ['open']],
    ['a.php', '<b><?php echo strlen($a);\n', 'call', ['strlen']],
    ['a.sql', 'SELECT id FROM t;\n', 'keyword', ['SELECT', 'FROM']],
    ['a.tf', 'a "b" {\n  c = lower(d)\n}\n', 'call', ['lower']],
    ['a.nix', '{ a = 1; }\n', 'property', ['a']],
    ['a.md', '# Title\n', 'heading', [' Title']],
    ['a.json', '{"a": 1} // the mode reads comments\n', 'comment', ['// the mode reads comments']],
    ['a.kt', 'fun f() = 1 // c\n', 'comment', ['// c']],
  ])('are painted by the grammar or the mode that the worker loads: %s', async (title, text, kind, texts) => {
    const page = await open(`/${await storePaste(bed.cluster, text, { title })}`);
    if (title === 'a.md') await page.getByRole('button', { name: 'Source' }).click();
    await untilPainted(page, kind);
    expect(await paintedTexts(page, kind)).toEqual(texts);
  });

  it('are those of the mode for a text beyond 1 MiB', async () => {
    const text = 'open(door); // a\n'.repeat(65_000);
    const page = await open(`/${await storePaste(bed.cluster, text, { title: 'a.ts' })}`);
    await untilPainted(page, 'comment');
    expect(await page.evaluate(() => CSS.highlights.get('call')!.size)).toBe(0);
  });
});

describeInBrowser('the output of a terminal', () => {
  const text = `${'\u001b[32mok\u001b[0m line\r\n'.repeat(6000)}\u001b[1;41mFAIL\u001b[m \u001b[2Kend\n`;

  it('has its colours, and is copied without their codes', async () => {
    const page = await open(`/${await storePaste(bed.cluster, text)}`);
    await untilPainted(page, 'inserted');
    expect(new Set(await paintedTexts(page, 'inserted'))).toEqual(new Set(['ok']));
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
    await untilPainted(page, 'on-bad');
    expect(await paintedTexts(page, 'strong')).toEqual(['FAIL']);
    expect(await page.locator('.chunk.tail pre').innerText()).toContain('FAIL ␛[2Kend');
    await page.getByRole('button', { name: 'Copy text' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const plain = text.replaceAll(/\u001b\[[\d;]*m/g, ''); // oxlint-disable-line no-control-regex
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(plain);
    await page.getByText('More', { exact: true }).click();
    await page.locator('#copy-markdown').click();
    await page.locator('#copy-markdown', { hasText: 'Copied' }).waitFor();
    const markdown = await page.evaluate(() => navigator.clipboard.readText());
    expect(markdown === `\`\`\`\n${plain}\`\`\`\n`).toBe(true);
  });

  it('has no codes without JavaScript, and no colours where the system forces its own', async () => {
    const path = `/${await storePaste(bed.cluster, text)}`;
    const plain = await open(path, { javaScriptEnabled: false });
    expect(await plain.locator('#L1').textContent()).toBe('ok line\n');
    const forced = await open(path, { forcedColors: 'active' });
    await forced.locator('#wrap').waitFor();
    expect(await forced.evaluate(() => CSS.highlights.size)).toBe(0);
  });
});

describeInBrowser('the columns of a tab', () => {
  const columns = (page: Page) =>
    page.locator('#content').evaluate((content) => getComputedStyle(content).tabSize);

  it('are those of the language until the reader chooses, which is remembered', async () => {
    const code = await storePaste(bed.cluster, '\ta\n', { title: 'a.ts' });
    const page = await open(`/${code}`);
    expect(await columns(page)).toBe('2');
    await page.goto(`${page.url()}?language=text`);
    expect(await columns(page)).toBe('8');
    await page.getByText('More', { exact: true }).click();
    await page.getByLabel('Tab size').selectOption('4');
    expect(await columns(page)).toBe('4');
    await page.goto(`${bed.cluster.http().url}/${code}`);
    expect(await columns(page)).toBe('4');
    await page.getByText('More', { exact: true }).click();
    await page.getByLabel('Tab size').selectOption('By language');
    expect(await columns(page)).toBe('2');
  });
});
