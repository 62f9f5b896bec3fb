import { readFile } from 'node:fs/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { startCluster } from '../../src/index.ts';
import { isBrowserWanted, useBrowser, violationsOf } from './browser.ts';
import { storePaste } from './store-paste.ts';

const describeInBrowser = isBrowserWanted() ? describe : describe.skip;

const bed = useBrowser({
  start: () => startCluster({ env: { UPLOAD_RETRY_DELAYS_MS: '200,200' } }),
  originOf: (cluster) => cluster.http().url,
});
const { open } = bed;
afterEach(() => bed.cluster?.s3.clear());

describeInBrowser('the page of a paste', () => {
  it('shows the text when it is stored, also without JavaScript', async () => {
    const put = bed.cluster.s3.hold({ method: 'PUT' });
    const { short_code } = await bed.cluster.client().pastes.create(Buffer.from('late text'));
    const held = await put;
    const page = await open(`/${short_code}`, { javaScriptEnabled: false });
    await page.getByText('The upload of this paste is in progress').waitFor();
    await held.forward();
    await page.getByText('late text').waitFor();
  });

  it('downloads the exact bytes under the name of the title', async () => {
    const text = 'a\r\nb\0c\n';
    const page = await open(`/${await storePaste(bed.cluster, text, { title: '../notes: "x".txt' })}`);
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download' }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe('notes_x.txt');
    expect(await readFile(await download.path(), 'utf8')).toBe(text);
  });

  it.each([
    ['that was deleted', 410, 'expired or was deleted'],
    ['that never was', 404, 'There is no paste at this address'],
    ['whose upload failed', 404, 'The upload of this paste failed'],
  ] as const)(
    'names the state of a paste %s, with the status and a link to go on',
    async (name, status, text) => {
      const { short_code, delete_token } = await bed.cluster.client().pastes.create(Buffer.from(name));
      let path = `/${short_code}`;
      if (status === 410)
        await bed.cluster.client().pastes.delete(short_code, { deleteToken: delete_token! });
      else if (text.includes('no paste')) path = '/missing123';
      else {
        bed.cluster.s3.rule({ method: 'PUT' }, { kind: 'fail', status: 500 });
        const failing = await bed.cluster.client().pastes.create(Buffer.from('never stored'));
        await bed.cluster.untilStatus(failing.short_code, 'FAILED');
        path = `/${failing.short_code}`;
      }
      const page = await open('/');
      expect((await page.goto(bed.cluster.http().url + path))?.status()).toBe(status);
      await page.getByText(text).waitFor();
      expect(await violationsOf(page)).toEqual([]);
      await page.getByRole('link', { name: 'Create a new paste' }).click();
      await page.getByRole('heading', { name: 'New paste' }).waitFor();
    },
  );
});

describeInBrowser('the timeline', () => {
  it.each([
    ['with JavaScript', true],
    ['without JavaScript', false],
  ])(
    'draws the attempts of an upload that succeeded late, and lists them: %s',
    async (_name, javaScriptEnabled) => {
      bed.cluster.s3.rule({ method: 'PUT' }, { kind: 'fail', status: 503 });
      const { short_code } = await bed.cluster.client().pastes.create(Buffer.from('late'));
      await bed.cluster.until(async () => (await bed.cluster.executions(short_code)).length > 1);
      bed.cluster.s3.clear();
      await bed.cluster.untilStatus(short_code, 'PROCESSED');
      const attempts = (await bed.cluster.executions(short_code)).length;
      const page = await open(`/${short_code}`, { javaScriptEnabled });
      await page.getByRole('link', { name: 'Timeline' }).click();
      await page.getByRole('img', { name: 'States and attempts over time' }).waitFor();
      await page.waitForLoadState(); // with the tables below
      expect(await page.locator('svg.timeline text.name').allTextContents()).toEqual([
        'Paste',
        ...Array.from({ length: attempts }, (_, i) => `Attempt ${i + 1}`),
      ]);
      const rows = page.getByRole('region', { name: 'Attempts', exact: true }).getByRole('row');
      expect(await rows.count()).toBe(attempts + 1); // and the head
      expect(await rows.nth(1).innerText()).toContain('failed');
      expect(await rows.nth(attempts).innerText()).toContain('succeeded');
      const bars = await page
        .locator('svg.timeline rect')
        .evaluateAll((all) =>
          all.map((bar) => bar.getBoundingClientRect()).map(({ left, width }) => [left, width]),
        );
      for (const [left, width] of bars) expect(width! >= 1 && left! > 0).toBe(true);
    },
  );
});
