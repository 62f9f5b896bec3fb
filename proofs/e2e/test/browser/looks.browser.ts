import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startCluster } from '../../src/index.ts';
import { isBrowserWanted, openSignedIn, useBrowser } from './browser.ts';
import { storePaste } from './store-paste.ts';

const describeInBrowser = isBrowserWanted() ? describe : describe.skip;

const bed = useBrowser({ start: () => startCluster(), originOf: (cluster) => cluster.http().url });

const edgesOf = (page: Page, selector: string): Promise<readonly number[]> =>
  page
    .locator(selector)
    .first()
    .evaluate((element) => {
      const { left, right } = element.getBoundingClientRect();
      return [Math.round(left), Math.round(document.documentElement.clientWidth - right)];
    });

describeInBrowser('a text', () => {
  it.each([1200, 2400])('uses the window of %d px, and the header stands above its edges', async (width) => {
    const code = await storePaste(bed.cluster, 'const answer = 42;\n', { title: 'answer.ts' });
    const page = await bed.open(`/${code}`, { viewport: { width, height: 800 } });
    expect(await edgesOf(page, '.code')).toEqual([24, 24]);
    expect((await edgesOf(page, '.brand'))[0]).toBe(24);
    const facts = await page.locator('.line').boundingBox();
    const title = await page.locator('h1').boundingBox();
    expect(facts!.y).toBeLessThan(title!.y + title!.height); // beside it, so that more of the text is in view
  });
});

describeInBrowser('a page of one thing', () => {
  it('stands in the same column, whatever it is', async () => {
    const { token } = await bed.cluster.user('columns');
    const code = await storePaste(bed.cluster, 'text');
    const page = await openSignedIn(bed, { path: '/my/account', token, options: {} });
    const columns = [await edgesOf(page, 'main > .card:only-child')];
    for (const path of ['/my/tokens', '/my/sessions', `/${code}/report`, '/session', '/missing123']) {
      await page.goto(bed.cluster.http().url + path);
      columns.push(await edgesOf(page, 'main > .card:only-child'));
    }
    expect(columns).toEqual(columns.map(() => [240, 240]));
  });
});

describeInBrowser('the form', () => {
  it('says in one sentence what this place is, once', async () => {
    const page = await bed.open('/', { javaScriptEnabled: false });
    expect(await page.getByText('gives you a short link to share it').count()).toBe(1);
    expect(await page.locator('main > .intro').isVisible()).toBe(true);
  });
});
