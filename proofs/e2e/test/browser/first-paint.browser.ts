import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startCluster } from '../../src/index.ts';
import { isBrowserWanted, useBrowser } from './browser.ts';
import { storePaste } from './store-paste.ts';

const describeInBrowser = isBrowserWanted() ? describe : describe.skip;
const bed = useBrowser({ start: () => startCluster(), originOf: (cluster) => cluster.http().url });

/** The files that the page has asked for, of which none is answered. */
async function holdAssets(page: Page): Promise<readonly string[]> {
  const held: string[] = [];
  await page.route('**/assets/**', (route) => {
    held.push(new URL(route.request().url()).pathname);
  });
  return held;
}

/** Waits for the first paint, however long the browser takes. A page that waits for a file never paints. */
const firstPaint = (page: Page) =>
  page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint').length > 0);

const styleOf = (page: Page, selector: string) =>
  page.locator(selector).evaluate((element) => {
    const { fontFamily, borderTopStyle, backgroundColor } = getComputedStyle(element);
    return { fontFamily, borderTopStyle, backgroundColor };
  });

describeInBrowser('the first paint of a paste of 2 KB', () => {
  it('waits for no request but that of the page, and has the colours and fonts of the page', async () => {
    const code = await storePaste(bed.cluster, 'const answer = 42; // why\n'.repeat(80), {
      title: 'answer.ts',
    });
    const complete = await bed.open(`/${code}`);
    const styles = await styleOf(complete, '.code');
    expect(styles.borderTopStyle).toBe('solid');

    const page = await bed.open('/missing123');
    const held = await holdAssets(page);
    await page.goto(`${bed.cluster.http().url}/${code}`, { waitUntil: 'commit' });
    await firstPaint(page);
    expect(await styleOf(page, '.code')).toEqual(styles);
    expect(held.filter((path) => path.endsWith('.css'))).toEqual([]);
  });

  it('is of a document of at most 22 KB more than its text, and no other file blocks it', async () => {
    const text = 'const answer = 42; // why\n'.repeat(80);
    const page = await bed.open(`/${await storePaste(bed.cluster, text)}`);
    const { blocking, bytes } = await page.evaluate(() => ({
      blocking: performance
        .getEntriesByType('resource')
        .filter((entry) => 'renderBlockingStatus' in entry && entry.renderBlockingStatus === 'blocking')
        .map(({ name }) => name),
      bytes: (performance.getEntriesByType('navigation')[0] as PerformanceNavigationTiming).encodedBodySize,
    }));
    expect(blocking).toEqual([]);
    expect(bytes - Buffer.byteLength(text)).toBeLessThanOrEqual(22 * 1024);
  });
});
