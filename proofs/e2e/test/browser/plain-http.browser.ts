import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startCluster } from '../../src/index.ts';
import { insecureOriginOf, isBrowserWanted, useBrowser } from './browser.ts';
import { storePaste } from './store-paste.ts';

const describeInBrowser = isBrowserWanted() ? describe : describe.skip;

/** A name of this machine, by http: there, browsers have neither `crypto.subtle` nor a clipboard. */
const bed = useBrowser({
  start: () => startCluster(),
  originOf: (cluster) => insecureOriginOf(cluster),
  otherOrigin: () => bed.cluster.http().url,
});

/** Encrypts at this machine's address, which browsers trust. @returns the path and the key */
async function encryptedOnce(page: Page, text: string): Promise<string> {
  await page.goto(`${bed.cluster.http().url}/`);
  await page.getByLabel('Text').fill(text);
  await page.getByText('More options').click();
  await page.getByLabel('Encrypt in this browser').check();
  await page.getByLabel('Delete the paste when it is read').check();
  await page.getByRole('button', { name: 'Create paste' }).click();
  const { pathname, hash } = new URL(await page.getByLabel('Link to the paste').inputValue());
  await bed.cluster.untilStatus(pathname.slice(1), 'PROCESSED');
  return pathname + hash;
}

/** What somebody gets who pastes into the form. */
async function pasted(page: Page): Promise<string> {
  await page.goto(`${insecureOriginOf(bed.cluster)}/`);
  await page.evaluate(() =>
    addEventListener('paste', ({ clipboardData }) => {
      document.title = JSON.stringify(clipboardData?.getData('text/plain'));
    }),
  );
  await page.getByLabel('Text').press('Control+v');
  await page.waitForFunction(() => document.title.startsWith('"'));
  return JSON.parse(await page.title()) as string;
}

describeInBrowser('over http, where browsers have no cipher,', () => {
  it('an encrypted paste that can be read once is not revealed, and can still be read', async () => {
    const path = await encryptedOnce(await bed.open('/'), 'read me once');
    const page = await bed.open(path);
    const requests: string[] = [];
    page.on('request', (request) => void (request.method() === 'POST' && requests.push(request.url())));
    await page.reload();
    await page.getByText('only on pages that were loaded by https').waitFor();
    expect(await page.getByRole('button', { name: 'Reveal the text' }).count()).toBe(0);
    expect(await page.locator('#once').isVisible()).toBe(false); // which speaks of the button
    expect(requests).toEqual([]);
    await page.goto(bed.cluster.http().url + path);
    await page.getByRole('button', { name: 'Reveal the text' }).click();
    await page.getByText('read me once').waitFor();
  });

  it('the form offers no encryption, and says why', async () => {
    const page = await bed.open('/');
    await page.getByText('More options').click();
    await page.getByText('only on pages that were loaded by https').waitFor();
    expect(await page.getByLabel('Encrypt in this browser').isDisabled()).toBe(true);
  });

  it('the form of a secret says before anybody types that it can not encrypt, and makes a paste that is read once', async () => {
    const page = await bed.open('/');
    const warning = page.getByText('This page was not loaded by https');
    expect(await warning.isVisible()).toBe(false);
    await page.getByRole('link', { name: 'Secret', exact: true }).click();
    await warning.waitFor();
    await page.reload(); // its address leads there
    await warning.waitFor();
    const above = await page.evaluate(
      () =>
        document.querySelector('#insecure')!.getBoundingClientRect().bottom <
        document.querySelector('#text')!.getBoundingClientRect().top,
    );
    expect(above).toBe(true);
    expect(await page.getByLabel('Encrypt in this browser').isVisible()).toBe(false);
    await page.getByLabel('Text').fill('kept over a reload');
    await page.reload();
    await page.waitForFunction(() => document.querySelector('textarea')?.value === 'kept over a reload');
    await page.getByRole('button', { name: 'Create without encryption' }).click();
    await page.getByRole('heading', { name: 'Paste created' }).waitFor();
    const url = await page.getByLabel('Link to the paste').inputValue();
    const answer = await fetch(url.replace(/([^/]+)$/, 'v1/pastes/$1').replace('paste.test', '127.0.0.1'));
    expect(await answer.json()).toMatchObject({ burn: true, encrypted: false, title: null });
  });

  it('a text is copied byte for byte, and so is the delete token, which is shown once', async () => {
    const text = 'a\r\nb\tc\n';
    const page = await bed.open(`/${await storePaste(bed.cluster, text)}`);
    const copy = async (name: string): Promise<void> => {
      await page.getByRole('button', { name, exact: true }).click();
      await page.getByRole('button', { name: 'Copied' }).waitFor();
    };
    await copy('Copy text');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('copy');
    expect(await pasted(page)).toBe(text);
    await page.getByLabel('Text').fill('x');
    await page.getByRole('button', { name: 'Create paste' }).click();
    await page.getByRole('heading', { name: 'Paste created' }).waitFor();
    await page.locator('button[data-copy=url]').waitFor(); // the script of the answer has closed the details
    await page.locator('#deletion summary').click();
    const deleteToken = await page.locator('#delete-token').inputValue();
    await copy('Copy');
    expect(await pasted(page)).toBe(deleteToken);
  });
});
