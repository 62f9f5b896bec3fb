import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startCluster } from '../../src/index.ts';
import { isBrowserWanted, useBrowser, violationsOf } from './browser.ts';

const describeInBrowser = isBrowserWanted() ? describe : describe.skip;
const bed = useBrowser({ start: () => startCluster(), originOf: (cluster) => cluster.http().url });

async function opened(page: Page): Promise<Page> {
  for (const method of ['get', 'post', 'delete']) {
    await page.locator(`.opblock-${method} .opblock-summary-control`).first().click();
    await page.locator(`.opblock-${method} .responses-table`).first().waitFor();
  }
  // Half a second of opacity, during which colours are paler. A spinner turns for ever.
  await page.waitForFunction(() =>
    document
      .getAnimations()
      .every((each) => each.playState !== 'running' || each.effect?.getTiming().iterations === Infinity),
  );
  return page;
}

describeInBrowser('the documentation', () => {
  it.each(['light', 'dark'] as const)(
    'has colours that can be read, and targets that can be hit, in the %s scheme',
    async (colorScheme) => {
      const page = await opened(await bed.open('/docs', { colorScheme }));
      expect(await violationsOf(page)).toEqual([]);
      const hasDarkMode = () => page.evaluate(() => document.documentElement.classList.contains('dark-mode'));
      expect(await hasDarkMode()).toBe(colorScheme === 'dark');
      for (const theme of ['light', 'dark']) {
        await page.getByRole('button', { name: /^Colours/ }).click();
        await page.getByRole('button', { name: `Colours: ${theme}` }).waitFor();
        expect(await hasDarkMode()).toBe(theme === 'dark');
      }
    },
  );

  it('follows the scheme when it changes', async () => {
    const page = await bed.open('/docs', { colorScheme: 'light' });
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.waitForFunction(() => document.documentElement.classList.contains('dark-mode'));
  });

  it('does not scroll sideways on a narrow screen', async () => {
    const page = await opened(await bed.open('/docs', { viewport: { width: 320, height: 640 } }));
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
  });
});
