import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import type { Download, Page } from 'playwright-core';
import { startCluster } from '../../src/index.ts';
import { isBrowserWanted, useBrowser, violationsOf } from './browser.ts';

const describeInBrowser = isBrowserWanted() ? describe : describe.skip;

const bed = useBrowser({ start: () => startCluster(), originOf: (cluster) => cluster.http().url });

/** One pixel. Browsers ignore what follows its end. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** The page of a paste that can be read once. */
async function opened(content: Buffer, title: string, javaScriptEnabled: boolean): Promise<Page> {
  const { short_code } = await bed.cluster.client().pastes.create(content, { title, burn: true });
  await bed.cluster.untilStatus(short_code, 'PROCESSED');
  return await bed.open(`/${short_code}`, { javaScriptEnabled });
}

/** Presses a button. @returns the file that the browser saves: in this window or in a new one */
async function saved(page: Page, button: string): Promise<readonly [name: string, bytes: Buffer]> {
  const { promise, resolve } = Promise.withResolvers<Download>();
  page.once('download', resolve);
  page.context().once('page', (other) => void other.once('download', resolve));
  await page.getByRole('button', { name: button }).click();
  const download = await promise;
  return [download.suggestedFilename(), await readFile(await download.path())];
}

describeInBrowser.each([
  ['with JavaScript', true],
  ['without JavaScript', false],
])('a paste that is read once, %s,', (_name, javaScriptEnabled) => {
  it.each([
    ['small', PNG],
    ['longer than what is sent as a whole', Buffer.concat([PNG, randomBytes(700_001)])],
  ])('shows an image, which the browser can save byte for byte: %s', async (_size, content) => {
    const page = await opened(content, 'cat.png', javaScriptEnabled);
    await page.getByRole('button', { name: 'Reveal the text' }).click();
    const image = page.getByRole('img', { name: 'The image cat.png' });
    await bed.cluster.until(() => image.evaluate((each: HTMLImageElement) => each.naturalWidth === 1));
    if (javaScriptEnabled) expect(await violationsOf(page)).toEqual([]);
    const [name, bytes] = await saved(page, 'Download');
    expect([name, bytes.equals(content)]).toEqual(['cat.png', true]);
    expect(await image.isVisible()).toBe(true); // the only copy stays
  });

  it('is saved byte for byte when it is neither text nor an image, and again by the same button', async () => {
    const content = Buffer.from([0, 1, 2, 255, 254, 13, 10, 0]);
    const page = await opened(content, 'firmware.bin', javaScriptEnabled);
    for (let press = 0; press < 2; press += 1) {
      const [name, bytes] = await saved(page, 'Reveal the text');
      expect([name, bytes.equals(content)]).toEqual(['firmware.bin', true]);
    }
    expect((await fetch(page.url(), { method: 'POST' })).status).toBe(410);
  });

  it('shows a text, and saves its exact bytes', async () => {
    const content = Buffer.from('caf\xe9\r\nsecond\n', 'latin1');
    const page = await opened(content, 'menu.txt', javaScriptEnabled);
    await page.getByRole('button', { name: 'Reveal the text' }).click();
    await page.locator('#L2').waitFor();
    const [name, bytes] = await saved(page, 'Download');
    expect([name, bytes.equals(content)]).toEqual(['menu.txt', true]);
  });
});
