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
const answered = (page: Page) => page.getByRole('heading', { name: 'Paste created' }).waitFor();

/** The answer is there, and its script has run: until then it keeps no token, and asks nothing. */
async function created(page: Page): Promise<void> {
  await answered(page);
  await page.locator('button[data-copy=url]').waitFor();
}

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

async function copyByButton(page: Page): Promise<void> {
  await page.locator('button[data-copy=url]').click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
}

/** Reloads the page, and lets the browser ask. @returns once it has asked */
async function reloadAsks(page: Page): Promise<void> {
  const asked = page.waitForEvent('dialog');
  await page.evaluate(() => location.reload());
  expect((await asked).type()).toBe('beforeunload');
}

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
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>('#delete_token')?.value);
    expect(await tokenOf(page)).toBe(token);
    await page.getByRole('button', { name: 'Delete permanently' }).click();
    await page.getByRole('heading', { name: 'Paste deleted' }).waitFor();
  });

  it.each([
    ['copied with the button', copyByButton],
    ['copied by hand', (page: Page) => page.getByLabel('Link to the paste').dispatchEvent('copy')],
  ])(
    'is asked about while only the page has the key of an encrypted paste, until it is %s',
    async (_name, copy) => {
      const page = await formWith('secret');
      await page.getByText('More options').click();
      await page.getByLabel('Encrypt in this browser').check();
      await create(page);
      await created(page);
      const link = await linkOf(page);
      const kept = await page.evaluate(() => JSON.stringify([history.state, Object.entries(sessionStorage)]));
      expect(kept).not.toContain(new URL(link).hash.slice(1));
      await reloadAsks(page);
      expect(await linkOf(page)).toBe(link);
      await copy(page);
      await page.reload();
      await page.getByRole('heading', { name: 'New paste' }).waitFor();
    },
  );

  it.each(['', 'burned'])('has the token for the page of an encrypted paste %s', async (burned) => {
    const page = await formWith('secret');
    await page.getByText('More options').click();
    if (burned !== '') await page.getByLabel('Delete the paste when it is read').check();
    await page.getByLabel('Encrypt in this browser').check();
    await create(page);
    await created(page);
    const [link, token] = [await linkOf(page), await tokenOf(page)];
    expect(link).toMatch(/#\w{43,44}$/);
    expect(await page.getByRole('link', { name: 'Open the paste' }).getAttribute('href')).toBe(link);
    await page.getByRole('link', { name: 'Open the paste' }).click();
    await page.waitForURL(link);
    await bed.cluster.untilStatus(new URL(link).pathname.slice(1), 'PROCESSED');
    await page.goto(link);
    await page.getByText('Delete this paste').click();
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>('#delete_token')?.value);
    expect(await tokenOf(page)).toBe(token);
  });

  it('has the token for other tabs of this browser, until it is to be forgotten', async () => {
    const page = await formWith('no secret');
    await create(page);
    await created(page);
    const [link, token] = [await linkOf(page), await tokenOf(page)];
    await bed.cluster.untilStatus(new URL(link).pathname.slice(1), 'PROCESSED');
    const other = await page.context().newPage();
    await other.goto(link);
    await other.waitForFunction(() => document.querySelector<HTMLInputElement>('#delete_token')?.value);
    expect(await tokenOf(other)).toBe(token);
    await page.getByRole('button', { name: 'Forget all tokens' }).click();
    expect(await tokenOf(page)).toBe(token); // for those who want to keep it themselves
    await page.reload();
    await page.getByRole('heading', { name: 'New paste' }).waitFor();
    expect(await page.evaluate(() => localStorage.length)).toBe(0);
    await other.reload();
    expect(await tokenOf(other)).toBe('');
  });

  it('without JavaScript shows the same paste again', async () => {
    const page = await open('/', { javaScriptEnabled: false });
    await page.getByLabel('Text').fill('without a script');
    const before = await countPastes();
    await create(page);
    await answered(page);
    const [link, token] = [await linkOf(page), await tokenOf(page)];
    await page.reload();
    await answered(page);
    expect([await linkOf(page), await tokenOf(page)]).toEqual([link, token]);
    expect(await countPastes()).toBe(before + 1);
    await page.goBack();
    await page.getByLabel('Text').fill('another text');
    await create(page);
    await answered(page);
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
      .getByText(/Paste created|The form was sent twice/)
      .first()
      .waitFor();
    await bed.cluster.until(async () => (await countPastes()) > before);
    await page.reload();
    await answered(page);
    expect(await countPastes()).toBe(before + 1);
  });

  it.each([false, true])('when the answer to the first try is lost, encrypted: %s', async (encrypt) => {
    const page = await formWith('lost answer');
    if (encrypt) await page.getByText('More options').click();
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

  it.each([
    ['is lost', '', 'lost'],
    ['of a form that starts from a paste is lost', 'an origin', 'lost'],
    ['is not there yet', '', 'late'],
  ])('when the page is reloaded after the answer to the first try %s', async (_name, origin, answer) => {
    let path = '/';
    if (origin !== '') {
      const { short_code } = await bed.cluster.client().pastes.create(Buffer.from(origin));
      await bed.cluster.untilStatus(short_code, 'PROCESSED');
      path = `/${short_code}/new`;
    }
    const page = await open(path);
    if (origin === '') await page.getByLabel('Text').fill('written');
    const before = await countPastes();
    const first = Promise.withResolvers<string>();
    let isFirst = true;
    await page.route('**/?*', async (route) => {
      if (!isPost(route) || !isFirst) return await route.continue();
      isFirst = false;
      first.resolve(await (await route.fetch()).text());
      if (answer === 'lost') await route.abort();
    });
    await create(page);
    const markup = await first.promise;
    if (answer === 'lost') await page.getByRole('alert').getByText('The server did not answer').waitFor();
    await page.reload();
    await page.locator('#encryption:not([hidden])').waitFor({ state: 'attached' }); // the script has run
    await create(page);
    await created(page);
    expect(markup).toContain(`value="${await linkOf(page)}"`);
    expect(markup).toContain(`value="${await tokenOf(page)}"`);
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

  it.each([
    ['with an error', { status: 502, body: 'Bad Gateway' }],
    ['with a page of its own', { status: 200, contentType: 'text/html', body: '<main>Log in</main>' }],
    ['with another address', { status: 303, headers: { location: '/docs' } }],
  ])('shows that the service did not answer when something else answers %s', async (_name, answer) => {
    const page = await formWith('behind a broken proxy');
    await page.route('**/?*', (route) => route.fulfill(answer));
    await create(page);
    await page.getByRole('alert').getByText('The server did not answer').waitFor();
    expect(await textOf(page)).toBe('behind a broken proxy');
  });
});
