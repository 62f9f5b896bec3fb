import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startCluster } from '../../src/index.ts';
import { isBrowserWanted, useBrowser } from './browser.ts';
import { storePaste } from './store-paste.ts';

const describeInBrowser = isBrowserWanted() ? describe : describe.skip;

const bed = useBrowser({ start: () => startCluster(), originOf: (cluster) => cluster.http().url });
const { open } = bed;

const stored = (content: string) => storePaste(bed.cluster, content);

const selectedRows = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('.selected')].map(({ dataset }) => dataset['n']),
  );

/** Waits for the end of the way to the lines of the address, which takes 20 frames, however long a frame takes. */
const untilScrolled = (page: Page) =>
  page.evaluate(
    () =>
      new Promise<void>((resolve) => {
        let frames = 0;
        const count = (): void => {
          frames += 1;
          if (frames > 20) resolve();
          else requestAnimationFrame(count);
        };
        count();
      }),
  );

const topOf = (page: Page, selector: string) =>
  page.evaluate((each) => document.querySelector(each)!.getBoundingClientRect().top, selector);

const whiteSpaceOf = (page: Page) =>
  page.evaluate(() => getComputedStyle(document.querySelector('.content [data-n]')!).whiteSpace);

describeInBrowser('the lines of a paste', () => {
  it('selects the lines of the address, and makes the address by clicks', async () => {
    const page = await open(`/${await stored('line\n'.repeat(1000))}#L600-L603`);
    await page.waitForFunction(() => document.querySelector('.selected') !== null);
    expect(await selectedRows(page)).toEqual(['600', '601', '602', '603']);
    await page.waitForFunction(() => scrollY > 5000);
    await untilScrolled(page);
    await page.evaluate(() => scrollTo(0, 0));
    await page.locator('#L3').click({ position: { x: 5, y: 10 } });
    await page.waitForFunction(() => location.hash === '#L3');
    const top = await topOf(page, '#L3');
    await page.locator('#L6').click({ position: { x: 5, y: 10 }, modifiers: ['Shift'] });
    await page.waitForFunction(() => location.hash === '#L3-L6');
    expect(await selectedRows(page)).toEqual(['3', '4', '5', '6']);
    expect(await topOf(page, '#L3')).toBe(top); // nothing moves
    const [band, box] = await page.evaluate(() =>
      ['#L4', '#content'].map((each) => document.querySelector(each)!.getBoundingClientRect().width),
    );
    expect(band).toBeGreaterThanOrEqual(box! - 2); // the whole width, without the borders
    expect(await page.locator('#selected-lines').innerText()).toBe('Lines 3 to 6 are selected.');
  });

  it('selects lines of a text that is too long for rows, with a band', async () => {
    const page = await open(`/${await stored('line\n'.repeat(8000))}#L6000-L6500`);
    const bands = () =>
      page.evaluate(() =>
        [...document.querySelectorAll<HTMLElement>('.band')].map(
          ({ offsetTop, offsetHeight, offsetWidth }) => [
            offsetTop / 20,
            offsetHeight / 20,
            offsetWidth > 1000,
          ],
        ),
      );
    await page.waitForFunction(() => document.querySelectorAll('.band').length === 3);
    // Chunks of 256 lines begin at 5889, 6145 and 6401.
    expect(await bands()).toEqual([
      [111, 145, true],
      [0, 256, true],
      [0, 100, true],
    ]);
    const numbers = page
      .locator('.chunk', { has: page.locator('.band') })
      .first()
      .locator('.numbers');
    await untilScrolled(page);
    await numbers.click({ position: { x: 5, y: 111 * 20 + 50 } });
    await page.waitForFunction(() => location.hash === '#L6002');
    expect(await bands()).toEqual([[113, 1, true]]);
  });

  it.each([
    ['that stay as they are', 1200, 'line'],
    ['that wrap', 390, 'a long line '.repeat(10)],
  ])('has the number of each line beside it, also beyond the rows: lines %s', async (_name, width, line) => {
    const page = await open(`/${await stored(`${line}\n`.repeat(6000))}#L5600-L5601`, {
      viewport: { width, height: 780 },
    });
    await page.locator('.numbered .band').waitFor();
    await page.waitForFunction(() => {
      const { top } = document.querySelector('.band')!.getBoundingClientRect();
      return top > 0 && top < innerHeight;
    });
    const places = await page.evaluate(() => {
      const chunk = document.querySelector('.chunk:has(.band)')!;
      const text = chunk.querySelector('pre')!.firstChild as Text;
      const numbers = chunk.querySelector('.numbers')!.firstChild as Text;
      const topOf = (node: Text, start: number): number => {
        const range = document.createRange();
        range.setStart(node, start);
        range.setEnd(node, start + 1);
        return Math.round(range.getBoundingClientRect().top);
      };
      const first = Number.parseInt(numbers.data, 10);
      const lineLength = text.data.indexOf('\n') + 1;
      const tops = [first, 5600, 5601, 5602].map((number) => [
        topOf(numbers, numbers.data.indexOf(String(number))),
        topOf(text, (number - first) * lineLength),
      ]);
      const band = chunk.querySelector('.band')!.getBoundingClientRect();
      const right = chunk.querySelector('.numbers')!.getBoundingClientRect().right;
      return {
        tops,
        band: [band.top, band.bottom],
        right,
        left: document.querySelector('#content')!.getBoundingClientRect().left,
      };
    });
    for (const [number, text] of places.tops) expect(number).toBe(text);
    const [, [top = 0] = [], , [below = 0] = []] = places.tops;
    for (const [at, edge] of [
      [top, places.band[0]],
      [below, places.band[1]],
    ])
      expect(Math.abs(at! - edge!)).toBeLessThan(10);
    expect(places.right - places.left).toBe(56);
  });

  it('shows the lines of the address, and no boxes, where the system forces its colours', async () => {
    const code = await storePaste(bed.cluster, 'const a = 1;\n'.repeat(9), { title: 'a.ts' });
    const page = await open(`/${code}#L3-L5`, { forcedColors: 'active' });
    await page.locator('#L5.selected').waitFor();
    const outlines = await page.evaluate(() =>
      ['#L4', '#L6'].map((each) => getComputedStyle(document.querySelector(each)!).outlineStyle),
    );
    expect(outlines).toEqual(['solid', 'none']);
    expect(await page.evaluate(() => CSS.highlights.size)).toBe(0);
  });

  it('has numbers that screen readers do not read', async () => {
    const page = await open(`/${await stored('line\n'.repeat(300))}`);
    const session = await page.context().newCDPSession(page);
    const { nodes } = await session.send('Accessibility.getFullAXTree');
    const names = nodes.map(({ name }) => String(name?.value ?? ''));
    expect(names.filter((name) => name.trim() === 'line').length).toBeGreaterThan(1);
    expect(names.filter((name) => /^\d+$/.test(name.trim()))).toEqual([]);
  });

  it('shows the line of the address without JavaScript', async () => {
    const page = await open(`/${await stored('line\n'.repeat(1000))}#L600`, { javaScriptEnabled: false });
    const row = page.locator('#L600');
    await bed.cluster.until(
      () => row.evaluate((each) => each.getBoundingClientRect().top),
      (top) => top > 100 && top < 800, // with a frame, which may come after the page is loaded
    );
    const colour = await row.evaluate((each) => getComputedStyle(each).backgroundColor);
    expect(colour).not.toBe('rgba(0, 0, 0, 0)');
  });

  it('wraps on a phone, and keeps each number beside its line', async () => {
    const page = await open(`/${await stored(`${'word '.repeat(200)}\nshort\n`)}`, {
      viewport: { width: 390, height: 780 },
    });
    const [first, second, top] = await page.evaluate(() =>
      ['#L1', '#L2', '#content'].map((each) => document.querySelector(each)!.getBoundingClientRect().top),
    );
    expect(second! - first!).toBeGreaterThan(200);
    expect(top).toBeLessThan(260);
    expect(await page.locator('#L2').evaluate((row) => getComputedStyle(row, '::before').content)).toContain(
      '"2"',
    );
    await page.getByRole('button', { name: 'Wrap' }).click();
    expect(await whiteSpaceOf(page)).toBe('pre');
  });

  it('selects lines with the keyboard alone, and says which', async () => {
    const page = await open(`/${await stored('line\n'.repeat(1000))}`);
    const status = page.locator('#selected-lines[role=status]');
    const select = async (text: string, hash: string): Promise<void> => {
      await page.getByLabel('Select lines').fill(text);
      await page.keyboard.press('Enter');
      await page.waitForFunction((expected) => location.hash === expected, hash);
    };
    await page.locator('.bar summary').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'QR code' }).focus();
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('lines');
    await select('603 - 600', '#L600-L603');
    expect(await status.innerText()).toBe('Lines 600 to 603 are selected.');
    expect((await selectedRows(page)).length).toBe(4);
    await page.waitForFunction(() => scrollY > 5000);
    await select('7', '#L7');
    expect(await status.innerText()).toBe('Line 7 is selected.');
    await select('1000-1002', '#L1000-L1002');
    expect(await status.innerText()).toBe('The page does not have all lines from 1000 to 1002.');
    await select('x', '#L1000-L1002'); // the field says what is wrong
    await page.locator('#lines:invalid').waitFor();
    await select('', '');
    expect(await status.innerText()).toBe('');
    expect(await selectedRows(page)).toEqual([]);
  });
});
