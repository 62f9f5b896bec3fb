import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startCluster } from '../../src/index.ts';
import { isBrowserWanted, useBrowser } from './browser.ts';
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
