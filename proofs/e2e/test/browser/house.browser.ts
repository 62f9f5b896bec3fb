import { describe, expect, it } from '@jest/globals';
import { startCluster } from '../../src/index.ts';
import { isBrowserWanted, useBrowser, violationsOf } from './browser.ts';

const describeInBrowser = isBrowserWanted() ? describe : describe.skip;

/** Four times as wide as it is high. */
const LOGO = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 80 20"><path d="M0 0h80v20H0z"/></svg>';
const NAME = 'Paste of the Example University of Applied Sciences';
const bed = useBrowser({
  start: () =>
    startCluster({
      house: {
        name: NAME,
        logo: 'logo.svg',
        links: { imprint: 'https://example.com/imprint', abuse: 'abuse@example.com' },
        anonymous: { max_expiry: 5400, burn_only: true },
      },
      logos: { 'logo.svg': LOGO },
    }),
  originOf: (cluster) => cluster.http().url,
});

describeInBrowser('a house with a long name, a wide logo and rules', () => {
  it('fits into 320 pixels, and each door of the form makes what a stranger may', async () => {
    const page = await bed.open('/?secret', { viewport: { width: 320, height: 640 } });
    await page.getByRole('link', { name: NAME, exact: true }).waitFor();
    const logo = page.locator('.brand img');
    await logo.evaluate((image: HTMLImageElement) => image.decode());
    const { width = 0, height = 0 } = (await logo.boundingBox()) ?? {};
    expect([height, width > 24]).toEqual([24, true]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
    expect(await violationsOf(page)).toEqual([]);

    const burn = page.getByLabel('Delete the paste when it is read');
    const chosen = () => page.getByLabel('Expires after').inputValue();
    for (const door of ['Text', 'Secret', 'Text']) {
      await page.getByRole('link', { name: door, exact: true }).click();
      await page.locator(`#new-paste[data-door=${door.toLowerCase()}]`).waitFor();
      expect([door, await burn.isChecked(), await burn.isDisabled(), await chosen()]).toEqual([
        door,
        true,
        true,
        '5400',
      ]);
    }
    await page.getByLabel('Text', { exact: true }).fill('for one reader');
    await page.getByRole('button', { name: 'Create paste' }).click();
    await page.getByText('the first reader deletes it').waitFor();
  });
});
