import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startCluster } from '../../src/index.ts';
import { isBrowserWanted, openSignedIn, useBrowser, violationsOf } from './browser.ts';

const describeInBrowser = isBrowserWanted() ? describe : describe.skip;

const bed = useBrowser({ start: () => startCluster(), originOf: (cluster) => cluster.http().url });
const { open } = bed;

/** A text with the newlines of Windows, a picture, and a text that a bad name can't keep away. */
const FILES = [
  { name: 'main.py', buffer: Buffer.from('import sys\r\nprint(sys.argv)\r\n') },
  { name: 'logo.png', buffer: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x00, 0xff]) },
  { name: 'README', buffer: Buffer.from('# Hello\n') },
].map((file) => ({ ...file, mimeType: 'text/plain' }));
const WHOLE = Buffer.concat(FILES.map(({ buffer }) => buffer));

/** Drops files on the page, of which scripts make no real ones. */
async function drop(page: Page, files = FILES): Promise<void> {
  const given = files.map(({ name, buffer }) => ({ name, bytes: [...buffer] }));
  await page.locator('footer').evaluate((target, all) => {
    const dataTransfer = new DataTransfer();
    for (const { name, bytes } of all) dataTransfer.items.add(new File([new Uint8Array(bytes)], name));
    target.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer }));
  }, given);
}

const fileOf = (page: Page, name: string) => page.getByRole('group', { name, exact: true });
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

/** The stored paste that the page says it has created. */
async function createdPaste(page: Page) {
  await page.getByRole('heading', { name: /created|saved/ }).waitFor();
  const url = await page.getByLabel('Link to the paste').inputValue();
  return await storedPaste(url.split('/').at(-1)!);
}

async function storedPaste(code: string) {
  await bed.cluster.untilStatus(code, 'PROCESSED');
  const paste = await bed.cluster.client().pastes.get(code);
  const answer = await fetch(`${bed.cluster.http().url}/v1/pastes/${code}/content`);
  const content = Buffer.from(await answer.arrayBuffer());
  const files = paste.files?.map(({ name, offset, size, syntax }) => ({
    name,
    syntax,
    content: content.subarray(offset, offset + size).toString('latin1'),
  }));
  return { code, title: paste.title, files, content };
}

const sent = FILES.map(({ name, buffer }) => ({ name, syntax: null, content: buffer.toString('latin1') }));

describeInBrowser('several files', () => {
  it.each([
    ['dropped', drop],
    ['chosen', (page: Page) => page.getByLabel('Or files').setInputFiles(FILES)],
  ])('that are %s become one paste, byte for byte', async (_name, give) => {
    const page = await open('/');
    await give(page);
    await fileOf(page, 'logo.png').getByText('6 bytes').waitFor();
    await page.waitForFunction(() => document.querySelectorAll('.file textarea:not([hidden])').length === 2);
    expect(await fileOf(page, 'main.py').getByLabel('Text').inputValue()).toBe(
      'import sys\nprint(sys.argv)\n',
    );
    expect(await violationsOf(page)).toEqual([]);
    await press(page, 'Create paste');
    await page.locator('.created').getByText('3 files').waitFor();
    expect(await createdPaste(page)).toMatchObject({ title: null, files: sent, content: WHOLE });
  });

  it('become one paste without JavaScript', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pasteflow-files-'));
    const paths = FILES.map(({ name }) => join(folder, name));
    for (const { name, buffer } of FILES) await writeFile(join(folder, name), buffer);
    const page = await open('/', { javaScriptEnabled: false });
    await page.getByLabel('Or files').setInputFiles(paths);
    await press(page, 'Create paste');
    expect((await createdPaste(page)).files).toEqual(sent);
    await rm(folder, { recursive: true });
  });

  it('are typed, renamed, removed, given a language, and added to the text that was there', async () => {
    const page = await open('/');
    await page.getByLabel('Text').fill('#!/bin/sh\nls\n');
    await page.getByLabel('Title').fill('run.sh');
    await press(page, 'Add a file');
    expect(await page.getByLabel('Title').inputValue()).toBe(''); // it was the name of the text
    await page.keyboard.type('src/a.conf');
    const second = fileOf(page, 'src/a.conf');
    await second.getByLabel('Text').fill('a = 1\n');
    await second.getByLabel('Language').selectOption('toml');
    await press(page, 'Add a file');
    await page.keyboard.press('Tab');
    await fileOf(page, 'file3.txt').getByLabel('Text').fill('{"b": 2}');
    await fileOf(page, 'file3.json').waitFor(); // as its language is detected
    await drop(page);
    await press(page, 'Remove main.py');
    expect(await page.evaluate(() => (document.activeElement as HTMLInputElement).value)).toBe('logo.png');
    await press(page, 'Remove README');
    await fileOf(page, 'logo.png').getByLabel('Name of the file').fill('img/logo.png');
    await page.getByLabel('Title').fill('All');
    await press(page, 'Create paste');
    expect(await createdPaste(page)).toMatchObject({
      title: 'All',
      files: [
        { name: 'run.sh', syntax: null, content: '#!/bin/sh\nls\n' },
        { name: 'src/a.conf', syntax: 'toml', content: 'a = 1\n' },
        { name: 'file3.json', syntax: null, content: '{"b": 2}' },
        { ...sent[1], name: 'img/logo.png' },
      ],
    });
  });

  it('say beside the file which name is refused, and send nothing', async () => {
    const page = await open('/');
    const posts: string[] = [];
    page.on('request', (request) => void (request.method() === 'POST' && posts.push(request.url())));
    await drop(page);
    const name = fileOf(page, 'logo.png').getByLabel('Name of the file');
    await name.fill('../logo.png');
    await press(page, 'Create paste');
    await page.getByRole('alert').getByText('This name must not have . or .. as a part.').waitFor();
    await page.locator('[aria-invalid=true]:focus').waitFor();
    expect(posts).toEqual([]);
    expect(await violationsOf(page)).toEqual([]);
    await page.keyboard.press('Control+A');
    await page.keyboard.type('main.PY');
    await page.getByRole('alert').getByText('This name').waitFor({ state: 'detached' });
    await press(page, 'Create paste');
    await page.getByText('has the same name, also in small letters').waitFor();
    await fileOf(page, 'main.PY').getByLabel('Name of the file').fill('ok.png');
    await press(page, 'Create paste');
    expect((await createdPaste(page)).files?.map((file) => file.name)).toEqual([
      'main.py',
      'ok.png',
      'README',
    ]);
  });

  it('are at most 100, also encrypted, where the service could not count them', async () => {
    const page = await open('/');
    await drop(page, Array(101).fill(FILES[1])); // each gets a name of its own
    await page.getByText('More options').click();
    await page.getByLabel('Encrypt in this browser').check();
    await press(page, 'Create paste');
    await page.getByRole('alert').getByText('At most 100 files.').waitFor();
    expect(await page.locator('.created').count()).toBe(0);
  });

  it('of one name get others, as those of a clipboard have', async () => {
    const page = await open('/');
    await drop(page, [FILES[1]!]);
    await drop(page, [FILES[1]!]);
    await fileOf(page, 'logo 2.png').waitFor();
    await press(page, 'Create paste');
    expect((await createdPaste(page)).files?.map((file) => file.name)).toEqual(['logo.png', 'logo 2.png']);
  });

  it('that are texts are there after a reload, with what was made of them', async () => {
    const page = await open('/');
    await drop(page, [FILES[2]!]);
    await page.waitForFunction(() => document.querySelectorAll('.file textarea:not([hidden])').length === 1);
    await press(page, 'Add a file');
    await page.keyboard.type('b.txt');
    await fileOf(page, 'b.txt').getByLabel('Text').fill('b');
    await fileOf(page, 'README').getByLabel('Text').fill('# Changed\n');
    await page.reload();
    await fileOf(page, 'b.txt').waitFor();
    await press(page, 'Create paste');
    expect((await createdPaste(page)).files).toEqual([
      { name: 'README', syntax: null, content: '# Changed\n' },
      { name: 'b.txt', syntax: null, content: 'b' },
    ]);
  });

  it('are read once, as a text is', async () => {
    const page = await open('/');
    await drop(page);
    await page.getByText('More options').click();
    await page.getByLabel('Delete the paste when it is read').check();
    await press(page, 'Create paste');
    await page.getByText('the first reader deletes it').waitFor();
    const code = (await page.getByLabel('Link to the paste').inputValue()).split('/').at(-1)!;
    expect((await bed.cluster.client().pastes.get(code)).files?.length).toBe(3);
  });

  it('are encrypted as one', async () => {
    const page = await open('/');
    await drop(page);
    await page.getByText('More options').click();
    await page.getByLabel('Encrypt in this browser').check();
    expect(await page.getByRole('button', { name: 'One paste each' }).count()).toBe(0);
    await press(page, 'Create paste');
    const link = await page.getByLabel('Link to the paste').inputValue();
    const reader = await page.context().newPage();
    await reader.goto(link);
    for (const { name } of FILES) await reader.getByText(name).first().waitFor();
  });

  it('stand on a narrow screen in both themes, from right to left', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await open('/', { colorScheme, viewport: { width: 360, height: 800 }, locale: 'ar' });
      await drop(page);
      await fileOf(page, 'README').waitFor();
      expect(await violationsOf(page)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)).toBe(false);
    }
  });
});

describeInBrowser('the files of a paste', () => {
  async function ownPaste(name: string) {
    const { token, pastes } = await bed.cluster.user(name);
    const page = await openSignedIn(bed, { path: '/', token, options: {} });
    await drop(page);
    await press(page, 'Create paste');
    const { code } = await createdPaste(page);
    return { page, code, pastes };
  }

  it('are edited: added, renamed, removed and changed, and the others stay byte for byte', async () => {
    const { page, code } = await ownPaste('edits files');
    await page.goto(`${bed.cluster.http().url}/${code}/edit`);
    await fileOf(page, 'main.py').getByLabel('Text').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await press(page, 'Remove README');
    await fileOf(page, 'logo.png').getByLabel('Name of the file').fill('img/logo.png');
    await press(page, 'Add a file');
    await page.keyboard.type('new.txt');
    await fileOf(page, 'new.txt').getByLabel('Text').fill('new');
    await page.reload(); // the draft has all of this, and takes the rest from the paste
    await fileOf(page, 'new.txt').waitFor();
    await press(page, 'Save new version');
    await page.waitForURL((url) => !url.pathname.endsWith('/edit'));
    const newer = await storedPaste(new URL(page.url()).pathname.slice(1));
    const edited = [
      sent[0],
      { ...sent[1], name: 'img/logo.png' },
      { name: 'new.txt', syntax: null, content: 'new' },
    ];
    expect(newer.files).toEqual(edited);

    await page.goto(`${bed.cluster.http().url}/${newer.code}/edit`);
    for (const name of ['img/logo.png', 'new.txt']) await press(page, `Remove ${name}`);
    await fileOf(page, 'main.py').getByLabel('Text').fill('print(1)\n');
    await press(page, 'Save new version');
    await page.waitForURL((url) => !url.pathname.endsWith('/edit'));
    const newest = await storedPaste(new URL(page.url()).pathname.slice(1));
    expect(newest).toMatchObject({ title: 'main.py', files: undefined, content: Buffer.from('print(1)\n') });
  });

  it.each(['edit', 'new'])(
    'stay without JavaScript, where nobody unticks them, and others take their place: %s',
    async (form) => {
      const page = await open('/', { javaScriptEnabled: false });
      await page.getByLabel('Or files').setInputFiles(FILES);
      await press(page, 'Create paste');
      const { code } = await createdPaste(page);
      const token = await page.getByLabel('Delete token').inputValue();
      await page.goto(`${bed.cluster.http().url}/${code}/${form}`);
      expect(await page.locator('#text').isVisible()).toBe(false);
      await page.getByLabel('main.py').uncheck();
      await page.getByLabel('Or files').setInputFiles([
        { name: 'README', mimeType: 'text/plain', buffer: Buffer.from('other') },
        { name: 'new.txt', mimeType: 'text/plain', buffer: Buffer.from('new') },
      ]);
      const save = form === 'edit' ? 'Save new version' : 'Create paste';
      const files = [
        sent[1],
        { name: 'README', syntax: null, content: 'other' },
        { name: 'new.txt', syntax: null, content: 'new' },
      ];
      if (form === 'edit') {
        await page.getByLabel('Delete token').fill('a guess');
        await press(page, save);
        await page.getByRole('alert').getByText('delete').first().waitFor();
        await page.getByLabel('Delete token').fill(token); // the form names the files that stay once more
        files.splice(1, 2, { ...sent[2]! });
      }
      await press(page, save);
      expect((await createdPaste(page)).files).toEqual(files);
    },
  );

  it('begin a new paste', async () => {
    const { page, code } = await ownPaste('forks files');
    await page.goto(`${bed.cluster.http().url}/${code}/new`);
    await fileOf(page, 'main.py').getByLabel('Text').fill('changed');
    await press(page, 'Create paste');
    expect((await createdPaste(page)).files).toEqual([{ ...sent[0], content: 'changed' }, sent[1], sent[2]]);
  });
});
