import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startCluster } from '../../src/index.ts';
import { BuiltCli } from '../support/packed-cli.ts';
import { isBrowserWanted, useBrowser, violationsOf } from './browser.ts';
import { codeOf, openLink as openLinkIn } from './encrypt.ts';

const describeInBrowser = isBrowserWanted() ? describe : describe.skip;

const bed = useBrowser({ start: () => startCluster(), originOf: (cluster) => cluster.http().url });
const openLink = (link: string) => openLinkIn(bed, link);

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const HOSTILE = '</section><script>alert(1)</script>\u202e\n';
const FILES: Readonly<Record<string, Buffer>> = {
  'src/main.py': Buffer.from('import os\nprint(os.name)\n'),
  'pixel.png': PNG,
  'tool.bin': Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0, 1]),
  empty: Buffer.alloc(0),
  'hostile.txt': Buffer.from(HOSTILE),
};

let cli: BuiltCli;
let folder: string;
beforeAll(async () => {
  if (!isBrowserWanted()) return;
  cli = await BuiltCli.build();
  folder = await mkdtemp(join(tmpdir(), 'encrypted-files-'));
});
afterAll(async () => {
  await cli?.remove();
  if (folder !== undefined) await rm(folder, { recursive: true });
});

/** Encrypts the files by the command line. @returns the link with the key */
async function put(...options: readonly string[]): Promise<string> {
  for (const [name, bytes] of Object.entries(FILES)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), bytes);
  }
  const server = bed.cluster.http().url;
  const args = ['put', '--encrypt', '-t', 'Five files', ...options, ...Object.keys(FILES)];
  const { code, stdout, stderr } = await cli.start(args, { server, cwd: folder }).ended;
  expect([code, stderr]).toEqual([0, '']);
  return stdout.trim();
}

const textOf = (page: Page, id: string): Promise<string> =>
  page.evaluate(
    (of) => [...document.querySelectorAll(`#${of} .chunk > [data-n]`)].map((row) => row.textContent).join(''),
    id,
  );

/** The name of the zip that the page makes, and its entries in hex. */
async function downloadAll(
  page: Page,
): Promise<{ readonly name: string; readonly entries: readonly (readonly [string, string])[] }> {
  const downloading = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download all' }).click();
  const download = await downloading;
  const script = `import json, sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
assert archive.testzip() is None
print(json.dumps([(each.filename, archive.read(each).hex()) for each in archive.infolist()]))`;
  const printed = execFileSync('python3', ['-c', script, await download.path()], { encoding: 'utf8' });
  return { name: download.suggestedFilename(), entries: JSON.parse(printed) as [string, string][] };
}

describeInBrowser('an encrypted paste of several files', () => {
  it('shows each below their list, by its kind, and runs nothing of them', async () => {
    const link = await put();
    const page = await openLink(link);
    await page.getByRole('heading', { name: 'Five files' }).waitFor();
    await page.getByRole('heading', { name: 'hostile.txt' }).waitFor();
    expect(await page.locator('.files li').allInnerTexts()).toEqual([
      expect.stringMatching(/src\/main\.py\s*Python · 25 bytes/),
      expect.stringMatching(/pixel\.png\s*PNG image · 70 bytes/),
      expect.stringMatching(/tool\.bin\s*Binary file · 7 bytes/),
      expect.stringMatching(/empty\s*0 bytes/),
      expect.stringMatching(/hostile\.txt\s*Plain text · \d+ bytes/),
    ]);
    expect(await textOf(page, 'f1')).toBe('import os\nprint(os.name)\n');
    expect(await textOf(page, 'f5')).toBe(HOSTILE.replace('\u202e', '[U+202E]'));
    await page.waitForFunction(
      () => document.querySelector<HTMLImageElement>('article img')?.naturalWidth === 1,
    );
    await page.getByText('This content is no text').waitFor();
    await page.getByText('This file is empty.').waitFor();
    await page.waitForFunction(() => (CSS.highlights.get('keyword')?.size ?? 0) > 0);
    expect(await page.locator('main script').count()).toBe(0);
  });

  it('leads to a file without losing the key, copies its text and downloads its bytes', async () => {
    const link = await put();
    const page = await openLink(link);
    await page.getByRole('link', { name: 'hostile.txt' }).click();
    await page.waitForFunction(() => document.activeElement?.id === 'f5-name');
    expect(page.url()).toBe(link);
    await page.locator('#f5').getByRole('button', { name: 'Copy text' }).click();
    await page.locator('#f5').getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(HOSTILE);
    const downloading = page.waitForEvent('download');
    await page.locator('#f1').getByRole('link', { name: 'Download' }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe('main.py');
    expect((await readFile(await download.path())).equals(FILES['src/main.py']!)).toBe(true);
    expect(await page.locator('#copy-link').getAttribute('data-url')).toBe(link);
  });

  it('is downloaded as a zip that the browser makes, again and again', async () => {
    const page = await openLink(await put());
    for (const _ of [1, 2]) {
      const { name, entries } = await downloadAll(page);
      expect(name).toBe('Five_files.zip');
      expect(entries).toEqual(Object.entries(FILES).map(([file, bytes]) => [file, bytes.toString('hex')]));
    }
  });

  it('that the script of PrivateBin has made shows its text first, and no name leads out of its zip', async () => {
    const fixture = new URL('../../../../packages/sealed/test/fixtures/privatebin-2.json', import.meta.url);
    const { body, key } = JSON.parse(await readFile(fixture, 'utf8')) as { body: string; key: string };
    const { v, adata, ct } = JSON.parse(body) as Record<string, unknown>;
    const { url } = await bed.cluster
      .client()
      .pastes.create(JSON.stringify({ v, adata, ct }), { encrypted: true });
    const page = await openLink(`${url}#${key}`);
    await page.getByRole('heading', { name: '../pic ture.png' }).waitFor();
    expect(await page.locator('.files a').allInnerTexts()).toEqual([
      'paste.txt',
      'notes.txt',
      '../pic ture.png',
      'empty',
    ]);
    expect([await textOf(page, 'f1'), await textOf(page, 'f2')]).toEqual(['see the files', 'notes: Grüße\n']);
    const { entries } = await downloadAll(page);
    expect(entries.map(([name]) => name)).toEqual(['paste.txt', 'notes.txt', 'file-3.png', 'empty']);
  });

  it('that is read once shows all of its files, and asks before the page is left', async () => {
    const link = await put('--burn');
    const page = await openLink(link);
    const warnings: string[] = [];
    page.on('dialog', (dialog) => void warnings.push(dialog.type()));
    await page.getByRole('button', { name: 'Reveal the text' }).click();
    await page.getByRole('heading', { name: 'hostile.txt' }).waitFor();
    expect(await page.locator('article').count()).toBe(5);
    expect(await page.locator('#copy-link').count()).toBe(0);
    await page.close({ runBeforeUnload: true });
    await bed.cluster.until(() => warnings.length > 0);
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download all' }).click();
    await downloading;
    expect(await (await fetch(`${bed.cluster.http().url}/v1/pastes/${codeOf(link)}`)).json()).toMatchObject({
      code: 'paste_gone',
    });
  });

  it('is downloads when the module that shows files does not arrive', async () => {
    const link = await put();
    await bed.cluster.untilStatus(codeOf(link), 'PROCESSED');
    const page = await bed.open('/');
    await page.route('**/sealed-files-*.js', (route) => route.abort());
    await page.goto(link);
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download src/main.py' }).click();
    expect((await readFile(await (await downloading).path())).equals(FILES['src/main.py']!)).toBe(true);
    expect(await page.locator('#attachments a').count()).toBe(5);
  });

  it('breaks no rule of WCAG 2.2 AA, in both themes and on a narrow screen', async () => {
    const { pathname, hash } = new URL(await put());
    await bed.cluster.untilStatus(pathname.slice(1), 'PROCESSED');
    for (const options of [
      { colorScheme: 'dark' as const },
      { colorScheme: 'light' as const, viewport: { width: 320, height: 640 } },
    ]) {
      const page = await bed.open(pathname + hash, options);
      await page.getByRole('heading', { name: 'hostile.txt' }).waitFor();
      expect(await violationsOf(page)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    }
  });
});
