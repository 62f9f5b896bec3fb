import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startCluster } from '../../src/index.ts';
import { isBrowserWanted, useBrowser } from './browser.ts';

const describeInBrowser = isBrowserWanted() ? describe : describe.skip;

const bed = useBrowser({ start: () => startCluster(), originOf: (cluster) => cluster.http().url });
const { open } = bed;

/** No text in any encoding of characters, and with both kinds of newlines. */
const BYTES = Buffer.from([0xff, 0xfe, 0x00, 0x0d, 0x0a, 0x0a, 0x61]);

/** Gives an element files as a drop or a paste does, of which scripts make no real one. */
async function giveFiles(
  page: Page,
  type: 'drop' | 'paste',
  {
    to = 'textarea',
    names = ['picture.bin'],
    texts = {},
  }: {
    readonly to?: string;
    readonly names?: readonly string[];
    readonly texts?: Readonly<Record<string, string>>;
  } = {},
): Promise<void> {
  await page.locator(to).evaluate(
    (target, { type: kind, bytes, names: given, texts: data }) => {
      const transfer = new DataTransfer();
      for (const [format, text] of Object.entries(data)) transfer.setData(format, text);
      for (const name of given) transfer.items.add(new File([new Uint8Array(bytes)], name));
      const options = { bubbles: true, cancelable: true };
      target.dispatchEvent(
        kind === 'drop'
          ? new DragEvent('drop', { ...options, dataTransfer: transfer })
          : new ClipboardEvent('paste', { ...options, clipboardData: transfer }),
      );
    },
    { type, bytes: [...BYTES], names, texts },
  );
}

async function chooseFile(page: Page): Promise<void> {
  const file = { name: 'picture.bin', mimeType: 'text/html', buffer: BYTES };
  await page.getByLabel('Or files').setInputFiles(file);
}

/** The content of the paste that the page says it has created. */
async function createdBytes(page: Page): Promise<Buffer> {
  const url = await page.getByLabel('Link to the paste').inputValue();
  await bed.cluster.untilStatus(url.split('/').at(-1)!, 'PROCESSED');
  return Buffer.from(await (await fetch(url)).arrayBuffer());
}

describeInBrowser('a file in the form', () => {
  it.each([
    ['chosen', chooseFile],
    ['dropped', (page: Page) => giveFiles(page, 'drop')],
    ['dropped beside the field', (page: Page) => giveFiles(page, 'drop', { to: 'footer' })],
    ['pasted', (page: Page) => giveFiles(page, 'paste')],
    [
      'pasted from a file manager',
      (page: Page) => giveFiles(page, 'paste', { texts: { 'text/plain': '/home/me/picture.bin' } }),
    ],
  ] as const)(
    'becomes a paste byte for byte, with its name as the title, when it is %s',
    async (_name, give) => {
      const page = await open('/');
      await give(page);
      const file = page.getByRole('group', { name: 'picture.bin' });
      await file.getByText('7 bytes').waitFor();
      await page.getByRole('button', { name: 'Create paste' }).click();
      expect((await createdBytes(page)).equals(BYTES)).toBe(true);
      await page.locator('.created').getByText('picture.bin').waitFor();
    },
  );

  it('becomes a paste byte for byte without JavaScript', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pasteflow-file-'));
    await writeFile(join(folder, 'picture.bin'), BYTES);
    const page = await open('/', { javaScriptEnabled: false });
    await page.getByLabel('Or files').setInputFiles(join(folder, 'picture.bin'));
    await page.getByRole('button', { name: 'Create paste' }).click();
    expect((await createdBytes(page)).equals(BYTES)).toBe(true);
    await rm(folder, { recursive: true });
  });

  it('leaves text that is dropped or pasted to the browser', async () => {
    const page = await open('/');
    await page.evaluate(() => navigator.clipboard.writeText('pasted text'));
    await page.getByLabel('Text').press('Control+V');
    await page.waitForFunction(() => document.querySelector('textarea')?.value === 'pasted text');
  });

  it('is none where cells of a spreadsheet are pasted with a picture of them', async () => {
    const page = await open('/');
    const texts = { 'text/plain': 'a\tb', 'text/html': '<table><tr><td>a<td>b</table>' };
    await giveFiles(page, 'paste', { names: ['image.png'], texts });
    expect(await page.locator('#file').evaluate((input: HTMLInputElement) => input.files?.length)).toBe(0);
    expect(await page.getByLabel('Title').inputValue()).toBe('');
  });

  it('becomes a paste beside others, when the writer wants one of each, and a refused one keeps none away', async () => {
    const page = await open('/');
    let requests = 0;
    await page.route('**/?*', async (route) => {
      requests += 1;
      if (requests === 2) await route.abort();
      else await route.continue();
    });
    await giveFiles(page, 'drop', { names: ['a.bin', 'b.bin', 'c.bin'] });
    await page.getByRole('button', { name: 'One paste each' }).click();
    await page.getByRole('heading', { name: '2 pastes created' }).waitFor();
    await page.getByText('b.bin: The server did not answer.').waitFor();
    const url = (await page.getByRole('link', { name: 'c.bin' }).getAttribute('href'))!;
    const copied = async (name: string): Promise<string> => {
      const button = page.locator('button[data-copy]', { hasText: name }).last();
      const id = (await button.getAttribute('data-copy'))!;
      await button.click();
      await page.locator(`[data-copy="${id}"]`, { hasText: 'Copied' }).waitFor();
      return await page.evaluate(() => navigator.clipboard.readText());
    };
    expect(await copied('Copy link')).toBe(url);
    expect((await copied('Copy all links')).split('\n')).toEqual([expect.stringMatching(/\/\w{10}$/), url]);
    await bed.cluster.untilStatus(url.split('/').at(-1)!, 'PROCESSED');
    expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(BYTES)).toBe(true);
    await page.reload(); // the list stays
    await page.getByRole('link', { name: 'c.bin' }).click();
    await page.getByRole('heading', { name: 'c.bin' }).waitFor();
  });

  it('is the title of its paste, unless the writer has another one', async () => {
    const page = await open('/');
    await giveFiles(page, 'drop', { names: ['salaries.py'] });
    await page.getByRole('button', { name: 'Remove salaries.py' }).click();
    expect(await focused(page)).toBe('text');
    await giveFiles(page, 'drop', { names: ['menu.bin'] });
    await page.getByLabel('Title').fill('mine');
    await page.getByRole('button', { name: 'Create paste' }).click();
    await page.locator('.created').getByText('mine').waitFor();
    expect((await createdBytes(page)).equals(BYTES)).toBe(true);
  });

  it('with a text is a choice of the writer without JavaScript too: the answer has the text', async () => {
    const page = await open('/', { javaScriptEnabled: false });
    await page.getByLabel('Text').fill('a text');
    await chooseFile(page);
    await page.getByRole('button', { name: 'Create paste' }).click();
    await page.getByRole('alert').getByText('had a text and a file').waitFor();
    expect(await page.getByLabel('Text').inputValue()).toBe('a text');
    await page.getByRole('button', { name: 'Create paste' }).click();
    expect((await createdBytes(page)).toString()).toBe('a text');
  });
});

/** What has the focus: its id, or its text. */
const focused = (page: Page) =>
  page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent?.trim());

/** Presses Tab until an element has the focus. @throws Error when none of the next 40 is it */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 40; presses += 1) {
    if ((await focused(page)) === name) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab never reaches ${name}`);
}

describeInBrowser('the form', () => {
  it('says what is missing when it is empty, and sends nothing', async () => {
    const page = await open('/');
    const sent: string[] = [];
    page.on('request', (request) => void sent.push(request.method()));
    await page.getByRole('button', { name: 'Create paste' }).click();
    await page.getByRole('alert').getByText('Enter a text, or choose a file.').waitFor();
    expect(sent).not.toContain('POST');
  });

  it('says when the text of the paste that it starts from does not arrive', async () => {
    const put = bed.cluster.s3.hold({ method: 'PUT' });
    const { short_code } = await bed.cluster.client().pastes.create(Buffer.from('late'));
    const held = await put;
    const page = await open(`/${short_code}/new`);
    await page.getByRole('alert').getByText('could not be loaded').waitFor();
    await held.forward();
    await bed.cluster.untilStatus(short_code, 'PROCESSED');
    await page.reload();
    await page.waitForFunction(() => document.querySelector('textarea')?.value === 'late');
  });
});

describeInBrowser('with the keyboard alone', () => {
  it('a paste is created with all options, opened and deleted', async () => {
    const page = await open('/');
    await page.locator('#text:focus').waitFor();
    await page.keyboard.type('only keys');
    await page.keyboard.press('Escape');
    await tabTo(page, 'title');
    await page.keyboard.type('keys.md');
    await tabTo(page, 'syntax');
    await page.keyboard.type('Rust');
    await tabTo(page, 'expires_in');
    await page.keyboard.type('1 day');
    await tabTo(page, 'create');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Paste created' }).waitFor();
    expect(await focused(page)).toBe('main'); // a screen reader goes on with the answer
    const token = await page.getByLabel('Delete token').inputValue();
    const url = await page.getByLabel('Link to the paste').inputValue();
    const copy = page.locator('button[data-copy=url]');
    await copy.waitFor(); // hidden until the script runs: an earlier Tab would skip the button, and find that of the token
    await tabTo(page, 'Copy link');
    const width = await copy.evaluate((button) => button.clientWidth);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(url);
    expect(await copy.evaluate((button) => button === document.activeElement)).toBe(true); // the next Tab goes on from here
    expect(await copy.evaluate((button) => button.clientWidth)).toBe(width);
    await bed.cluster.untilStatus(url.split('/').at(-1)!, 'PROCESSED');
    await tabTo(page, 'open');
    await page.keyboard.press('Enter');
    await page.locator('#content[data-language=rust]').waitFor();
    await page.waitForLoadState(); // by then the script has filled the token in
    expect(await page.locator('h1').innerText()).toBe('keys.md');

    await tabTo(page, 'Delete this paste');
    await page.keyboard.press('Enter');
    await tabTo(page, 'delete_token');
    await page.keyboard.type(token);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Paste deleted' }).waitFor();
    expect((await fetch(url)).status).toBe(410);
  });

  it('the content is reached by the link that skips the navigation', async () => {
    const page = await open('/missing123');
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Skip to the content');
    expect(await page.locator('.skip').evaluate((link) => link.getBoundingClientRect().left)).toBeGreaterThan(
      0,
    );
    await page.keyboard.press('Enter');
    await page.locator('#main:focus').waitFor();
  });
});
