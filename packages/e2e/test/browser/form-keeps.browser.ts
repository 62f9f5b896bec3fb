import { describe, expect, it } from '@jest/globals';
import type { Page, Route } from 'playwright-core';
import { startCluster } from '../../src/index.ts';
import { isBrowserWanted, useBrowser } from './browser.ts';

const describeInBrowser = isBrowserWanted() ? describe : describe.skip;

const bed = useBrowser({ start: () => startCluster(), originOf: (cluster) => cluster.http().url });
const { open } = bed;

const textOf = (page: Page) => page.getByLabel('Text').inputValue();
const linkOf = (page: Page) => page.getByLabel('Link to the paste').inputValue();
const tokenOf = (page: Page) => page.getByLabel('Delete token').inputValue();
const create = (page: Page) => page.getByRole('button', { name: 'Create paste' }).click();
const created = (page: Page) => page.getByRole('heading', { name: 'Paste created' }).waitFor();

async function countPastes(): Promise<number> {
  const [row] = await bed.cluster.rows.query<{ count: string }>('SELECT count(*) FROM pastes');
  return Number(row!.count);
}

/** A form with this text. */
async function formWith(text: string): Promise<Page> {
  const page = await open('/');
  await page.getByLabel('Text').fill(text);
  return page;
}

const isPost = (route: Route) => route.request().method() === 'POST';

describeInBrowser('Tab in the field of the text', () => {
  it('indents the lines of a selection, replaces none of them, and is undone', async () => {
    const page = await formWith('one\n\n  two\nthree');
    const field = page.getByLabel('Text');
    await field.press('Control+A');
    await field.press('Tab');
    expect(await textOf(page)).toBe('\tone\n\n\t  two\n\tthree');
    await field.press('Control+Z');
    expect(await textOf(page)).toBe('one\n\n  two\nthree');
    await field.fill('one line');
    await field.press('Control+A');
    await field.press('Tab');
    expect(await textOf(page)).toBe('\tone line');
    await field.press('Control+Z');
    expect(await textOf(page)).toBe('one line');
  });

  it('takes an indentation away with Shift, and stops where a line has none', async () => {
    const page = await formWith('\t\tone\n      two\n\nthree');
    const field = page.getByLabel('Text');
    await field.press('Control+A');
    await field.press('Shift+Tab');
    expect(await textOf(page)).toBe('\tone\n  two\n\nthree');
    await field.press('Shift+Tab');
    await field.press('Shift+Tab');
    expect(await textOf(page)).toBe('one\ntwo\n\nthree');
    for (let undos = 0; undos < 2; undos += 1) await field.press('Control+Z');
    expect(await textOf(page)).toBe('\t\tone\n      two\n\nthree');
  });

  it('writes a tab where the cursor is, also in a first line that is empty', async () => {
    const page = await formWith('\nab');
    const field = page.getByLabel('Text');
    await field.press('Control+Home');
    await field.press('Tab');
    await field.press('Control+End');
    await field.press('ArrowLeft');
    await field.press('Tab');
    expect(await textOf(page)).toBe('\t\na\tb');
    await field.press('Control+Home');
    await field.press('Shift+Tab');
    await field.press('Control+End');
    await page.keyboard.type('c');
    expect(await textOf(page)).toBe('\na\tbc');
  });

  it('leaves the field after Esc, in both directions', async () => {
    const page = await formWith('text');
    for (const key of ['Tab', 'Shift+Tab']) {
      await page.getByLabel('Text').focus();
      await page.keyboard.press('Escape');
      await page.keyboard.press(key);
      expect([key, await page.evaluate(() => document.activeElement?.id === 'text')]).toEqual([key, false]);
    }
    expect(await textOf(page)).toBe('text');
  });
});

describeInBrowser('a reload of the form', () => {
  it('keeps what was entered, until the paste is created', async () => {
    const page = await formWith('  a long text\nof two lines\n');
    await page.getByLabel('Title').fill('notes.md');
    await page.getByLabel('Language').selectOption('rust');
    await page.getByLabel('Delete the paste when it is read').check();
    await page.reload();
    await page.waitForFunction(() => document.querySelector('textarea')?.value !== '');
    expect(await textOf(page)).toBe('  a long text\nof two lines\n');
    expect(await page.getByLabel('Title').inputValue()).toBe('notes.md');
    expect(await page.getByLabel('Language').inputValue()).toBe('rust');
    expect(await page.getByLabel('Delete the paste when it is read').isChecked()).toBe(true);
    await create(page);
    await created(page);
    await page.getByRole('link', { name: 'New paste' }).click();
    await page.getByLabel('Text').waitFor();
    expect(await textOf(page)).toBe('');
    expect(await page.evaluate(() => Object.keys(sessionStorage).filter((key) => /draft/.test(key)))).toEqual(
      [],
    );
  });

  it('keeps what was changed of the paste that the form starts from', async () => {
    const { short_code } = await bed.cluster.client().pastes.create(Buffer.from('the first version'));
    await bed.cluster.untilStatus(short_code, 'PROCESSED');
    const page = await open(`/${short_code}/new`);
    expect(await textOf(page)).toBe('the first version');
    await page.getByLabel('Text').fill('the second version');
    await page.getByLabel('Made from').uncheck();
    await page.reload();
    await page.waitForFunction(() => document.querySelector('textarea')?.value === 'the second version');
    expect(await page.getByLabel('Made from').isChecked()).toBe(false);
    await page.goto(bed.cluster.http().url);
    expect(await textOf(page)).toBe(''); // a draft belongs to its page
  });

  it('shows nobody who signs in later what another user had entered', async () => {
    const page = await formWith('');
    await page.evaluate(() =>
      sessionStorage.setItem('draft of /', JSON.stringify({ writer: 'alice', fields: { text: 'of alice' } })),
    );
    await page.reload();
    await page.locator('#encryption').waitFor(); // the script has run
    expect(await textOf(page)).toBe('');
  });

  it.each([
    ['is to be encrypted', 'secret', true],
    ['is longer than the browser keeps', 'x'.repeat(6 * 1024 * 1024), false],
  ])('asks before a text is lost that %s, and keeps none of it', async (_name, text, encrypt) => {
    const page = await open('/');
    await page.getByLabel('Text').pressSequentially('kept ');
    await page.reload();
    await page.waitForFunction(() => document.querySelector('textarea')?.value === 'kept ');
    await page.getByLabel('Text').fill(text);
    if (encrypt) await page.getByLabel('Encrypt in this browser').check();
    const asked: string[] = [];
    page.on('dialog', (dialog) => void asked.push(dialog.type()));
    await page.evaluate(() => location.reload());
    await bed.cluster.until(() => asked.length > 0);
    expect(asked).toEqual(['beforeunload']);
    expect((await textOf(page)).length).toBe(text.length);
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
  });
});

describeInBrowser('a reload after the creation', () => {
  it('shows the link and the delete token again, and the page of the paste has the token', async () => {
    const page = await formWith('keep my token');
    await create(page);
    await created(page);
    const [link, token] = [await linkOf(page), await tokenOf(page)];
    await page.getByRole('link', { name: 'Skip to the content' }).press('Enter');
    await page.reload();
    await created(page);
    expect([await linkOf(page), await tokenOf(page)]).toEqual([link, token]);
    await bed.cluster.untilStatus(link.split('/').at(-1)!, 'PROCESSED');
    await page.getByRole('link', { name: 'Open the paste' }).click();
    await page.getByText('Delete this paste').click();
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>('#delete_token')?.value !== '');
    expect(await tokenOf(page)).toBe(token);
    await page.getByRole('button', { name: 'Delete permanently' }).click();
    await page.getByRole('heading', { name: 'Paste deleted' }).waitFor();
  });

  it.each(['', 'burned'])('keeps the key of an encrypted paste and its token %s', async (burned) => {
    const page = await formWith('secret');
    if (burned !== '') await page.getByLabel('Delete the paste when it is read').check();
    await page.getByLabel('Encrypt in this browser').check();
    await create(page);
    await created(page);
    const [link, token] = [await linkOf(page), await tokenOf(page)];
    expect(link).toMatch(/#\w{43,44}$/);
    await page.reload();
    await created(page);
    expect([await linkOf(page), await tokenOf(page)]).toEqual([link, token]);
    expect(await page.getByRole('link', { name: 'Open the paste' }).getAttribute('href')).toBe(link);
    await bed.cluster.untilStatus(new URL(link).pathname.slice(1), 'PROCESSED');
    await page.goto(link);
    await page.getByText('Delete this paste').click();
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>('#delete_token')?.value !== '');
    expect(await tokenOf(page)).toBe(token);
  });

  it('without JavaScript shows the same paste again', async () => {
    const page = await open('/', { javaScriptEnabled: false });
    await page.getByLabel('Text').fill('without a script');
    const before = await countPastes();
    await create(page);
    await created(page);
    const [link, token] = [await linkOf(page), await tokenOf(page)];
    await page.reload();
    await created(page);
    expect([await linkOf(page), await tokenOf(page)]).toEqual([link, token]);
    expect(await countPastes()).toBe(before + 1);
    await page.goBack();
    await page.getByLabel('Text').fill('another text');
    await create(page);
    await created(page);
    expect(await linkOf(page)).not.toBe(link);
  });
});

describeInBrowser('one form creates one paste', () => {
  it('however often Ctrl+Enter is pressed', async () => {
    const page = await formWith('once');
    const before = await countPastes();
    const held: (() => void)[] = [];
    await page.route('**/?*', async (route) => {
      await new Promise<void>((resolve) => held.push(resolve));
      await route.continue();
    });
    for (let presses = 0; presses < 20; presses += 1) await page.getByLabel('Text').press('Control+Enter');
    await bed.cluster.until(() => held.length > 0);
    for (const release of held) release();
    await created(page);
    expect(await countPastes()).toBe(before + 1);
    expect(held).toHaveLength(1);
  });

  it('when a browser without JavaScript sends it by a double click', async () => {
    const page = await open('/', { javaScriptEnabled: false });
    await page.getByLabel('Text').fill('a double click');
    const before = await countPastes();
    await page.getByRole('button', { name: 'Create paste' }).dblclick();
    await page.waitForURL((url) => url.pathname === '/');
    await page
      .getByText(/Paste created|is still running/)
      .first()
      .waitFor();
    await bed.cluster.until(async () => (await countPastes()) > before);
    await page.reload();
    await created(page);
    expect(await countPastes()).toBe(before + 1);
  });

  it.each([false, true])('when the answer to the first try is lost, encrypted: %s', async (encrypt) => {
    const page = await formWith('lost answer');
    if (encrypt) await page.getByLabel('Encrypt in this browser').check();
    const before = await countPastes();
    let isFirst = true;
    await page.route('**/?*', async (route) => {
      if (!isPost(route) || !isFirst) return await route.continue();
      isFirst = false;
      await route.fetch();
      await route.abort();
    });
    await create(page);
    await page.getByRole('alert').getByText('The server did not answer').waitFor();
    expect(await textOf(page)).toBe('lost answer');
    await create(page);
    await created(page);
    expect(await countPastes()).toBe(before + 1);
  });

  it('but another text after a lost answer creates another paste', async () => {
    const page = await formWith('first');
    const before = await countPastes();
    let isFirst = true;
    await page.route('**/?*', async (route) => {
      if (!isPost(route) || !isFirst) return await route.continue();
      isFirst = false;
      await route.fetch();
      await route.abort();
    });
    await create(page);
    await page.getByRole('alert').getByText('The server did not answer').waitFor();
    await page.getByLabel('Text').fill('second');
    await create(page);
    await created(page);
    expect(await countPastes()).toBe(before + 2);
  });

  it('says so when something else than the service answers', async () => {
    const page = await formWith('behind a broken proxy');
    await page.route('**/?*', (route) => route.fulfill({ status: 502, body: 'Bad Gateway' }));
    await create(page);
    await page.getByRole('alert').getByText('The server did not answer').waitFor();
    expect(await textOf(page)).toBe('behind a broken proxy');
  });
});
