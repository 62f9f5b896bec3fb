import { mkdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { startCluster } from '../../src/index.ts';
import { isBrowserWanted, useBrowser, violationsOf } from './browser.ts';

const describeInBrowser = isBrowserWanted() ? describe : describe.skip;

/** Where to leave pictures of the parts, for people to look at. */
const { SCREENSHOTS } = process.env; // oxlint-disable-line node/no-process-env -- only when somebody wants to look

const bed = useBrowser({
  start: () => startCluster({ env: { NODE_ENV: 'development' } }),
  originOf: (cluster) => cluster.http().url,
});

describeInBrowser('the style guide', () => {
  it.each([
    [1280, 'light'],
    [1280, 'dark'],
    [360, 'light'],
    [360, 'dark'],
  ] as const)(
    'shows every part without a violation of WCAG 2.2 AA, and within its width: %i, %s',
    async (width, colorScheme) => {
      const page = await bed.open('/styleguide', { viewport: { width, height: 800 }, colorScheme });
      await page.locator('#copy:not([hidden])').waitFor(); // the script has run
      await page.getByRole('button', { name: 'primary' }).hover();
      await page.getByLabel('Choice').focus();
      expect(await page.getByRole('main').getByRole('region').count()).toBeGreaterThan(10);
      expect(await violationsOf(page)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
      if (SCREENSHOTS === undefined) return;
      mkdirSync(SCREENSHOTS, { recursive: true });
      await page.screenshot({
        path: `${SCREENSHOTS}/styleguide-${width}-${colorScheme}.png`,
        fullPage: true,
      });
    },
  );

  it('is not there in production', async () => {
    const api = await bed.cluster.add('api', { NODE_ENV: 'production' });
    expect((await fetch(`http://127.0.0.1:${api.env.API_PORT}/styleguide`)).status).toBe(404);
  });
});
