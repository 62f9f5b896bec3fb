import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startCluster } from '../../src/index.ts';
import { isBrowserWanted, openSignedIn, useBrowser } from './browser.ts';

const describeInBrowser = isBrowserWanted() ? describe : describe.skip;

const bed = useBrowser({ start: () => startCluster(), originOf: (cluster) => cluster.http().url });
const { open } = bed;

const textOf = (page: Page) => page.getByLabel('Text').inputValue();
const create = (page: Page) => page.getByRole('button', { name: 'Create paste' }).click();
const created = (page: Page) => page.getByRole('heading', { name: 'Paste created' }).waitFor();

/** A form with this text. */
async function formWith(text: string): Promise<Page> {
  const page = await open('/');
  await page.getByLabel('Text').fill(text);
  return page;
}

/** Reloads the page, and lets the browser ask. @returns once it has asked */
async function reloadAsks(page: Page): Promise<void> {
  const asked = page.waitForEvent('dialog');
  await page.evaluate(() => location.reload());
  expect((await asked).type()).toBe('beforeunload');
}

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

  it('indents 20,000 lines at once, which the other direction takes back', async () => {
    const lines = 'a line\n'.repeat(20_000);
    const page = await open('/');
    const field = page.getByLabel('Text');
    await field.evaluate((element: HTMLTextAreaElement, value) => void (element.value = value), lines); // fill() is as slow
    await field.press('Control+A');
    await field.press('Tab');
    expect((await textOf(page)) === '\ta line\n'.repeat(20_000)).toBe(true);
    await field.press('Shift+Tab');
    expect((await textOf(page)) === lines).toBe(true);
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
    await page.getByText('More options').click();
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
    await page.locator('#encryption:not([hidden])').waitFor({ state: 'attached' }); // the script has run
    expect(await textOf(page)).toBe('');
    expect(await page.evaluate(() => Object.keys(sessionStorage).filter((key) => /draft/.test(key)))).toEqual(
      [],
    );
  });

  it('keeps what was changed of the paste that the form starts from', async () => {
    const { short_code } = await bed.cluster
      .client()
      .pastes.create(Buffer.from('the first version'), { title: 'First' });
    await bed.cluster.untilStatus(short_code, 'PROCESSED');
    const page = await open(`/${short_code}/new`);
    expect(await textOf(page)).toBe('the first version');
    await page.getByLabel('Text').fill('the second version');
    await page.getByLabel('Title').fill('');
    await page.getByLabel('Made from').uncheck();
    await page.reload();
    await page.waitForFunction(() => document.querySelector('textarea')?.value === 'the second version');
    expect(await page.getByLabel('Made from').isChecked()).toBe(false);
    expect(await page.getByLabel('Title').inputValue()).toBe('');
    await page.goto(bed.cluster.http().url);
    expect(await textOf(page)).toBe(''); // a draft belongs to its page
  });

  it('leaves what the form offers in place of a time that it offers no longer', async () => {
    const page = await formWith('a text');
    const expires = page.getByLabel('Expires after');
    const usual = await expires.inputValue();
    await expires.evaluate((select: HTMLSelectElement) => select.add(new Option('of yesterday', '4711')));
    await expires.selectOption('4711');
    await page.reload();
    await page.waitForFunction(() => document.querySelector('textarea')?.value === 'a text');
    expect(await expires.inputValue()).toBe(usual);
  });

  it('keeps the options of a text that is not written yet', async () => {
    const page = await open('/');
    await page.getByLabel('Title').fill('notes.md');
    await page.reload();
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>('#title')?.value !== '');
    expect(await page.getByLabel('Title').inputValue()).toBe('notes.md');
  });

  it('has what was entered also when the tab ends in the background, of which no event tells', async () => {
    const page = await formWith('unsaved');
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    expect(await page.evaluate(() => sessionStorage.getItem('draft of /'))).toContain('unsaved');
  });

  it('is the way to a draft, and the way back is another: a link gives an empty form', async () => {
    const page = await formWith('a draft');
    await page.goto(`${bed.cluster.http().url}/missing123`);
    await page.getByRole('link', { name: 'New paste', exact: true }).click();
    await page.locator('#encryption:not([hidden])').waitFor({ state: 'attached' }); // the script has run
    expect(await textOf(page)).toBe('');
    await page.goBack();
    await page.goBack();
    await page.waitForFunction(() => document.querySelector('textarea')?.value === 'a draft');
  });

  it('asks before a chosen file is lost', async () => {
    const page = await open('/');
    await page.getByLabel('Text').press('x');
    await page.getByLabel('Text').press('Backspace');
    const file = { name: 'a.bin', mimeType: 'text/plain', buffer: Buffer.from([255]) };
    await page.getByLabel('Or files').setInputFiles(file);
    await reloadAsks(page);
    await create(page);
    await created(page);
  });

  it('shows nobody who signs in later what another user had entered, and forgets it', async () => {
    const page = await formWith('');
    await page.evaluate(() =>
      sessionStorage.setItem('draft of /', JSON.stringify({ writer: 'alice', fields: { text: 'of alice' } })),
    );
    await page.reload();
    await page.locator('#encryption:not([hidden])').waitFor({ state: 'attached' }); // the script has run
    expect(await textOf(page)).toBe('');
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
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
    if (encrypt) await page.getByText('More options').click();
    if (encrypt) await page.getByLabel('Encrypt in this browser').check();
    await reloadAsks(page);
    expect((await textOf(page)).length).toBe(text.length);
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
  });
});

async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('API token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Signed in as').waitFor();
}

describeInBrowser('the way back to the form', () => {
  it('forgets what another user has created and entered', async () => {
    const [alice, bob] = [await bed.cluster.user('alice'), await bed.cluster.user('bob')];
    const page = await open('/session?next=%2F');
    await signIn(page, alice.token);
    await page.locator('#encryption:not([hidden])').waitFor({ state: 'attached' }); // the script has run
    await page.getByLabel('Text').fill('created by alice');
    await create(page);
    await created(page);
    await page.getByRole('link', { name: 'New paste' }).click();
    await page.locator('#encryption:not([hidden])').waitFor({ state: 'attached' }); // the script has run
    await page.getByLabel('Text').fill('drafted by alice');
    await page.locator('summary', { hasText: 'Signed in as' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('link', { name: 'Sign in' }).click();
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0); // also of pages that bob never opens
    await page.evaluate(() =>
      // As in a browser that does not know Clear-Site-Data.
      sessionStorage.setItem('draft of /', JSON.stringify({ writer: 'alice', fields: { text: 'drafted' } })),
    );
    await signIn(page, bob.token);
    while (!page.url().endsWith('#created')) await page.goBack();
    await page.locator('#encryption:not([hidden])').waitFor({ state: 'attached' }); // the script has run
    await page.getByRole('heading', { name: 'New paste' }).waitFor();
    expect(await textOf(page)).toBe('');
    expect(await page.evaluate(() => JSON.stringify([history.state, sessionStorage.length]))).toBe(
      '[null,0]',
    );
  });
});

describeInBrowser('a form whose session has ended in another tab', () => {
  /** A form with a text, of somebody who is signed in. */
  async function formOf(name: string): Promise<{ page: Page; token: string; userId: string }> {
    const { token, userId } = await bed.cluster.user(name);
    const page = await openSignedIn(bed, { path: '/', token, options: {} });
    await page.getByLabel('Text').fill('typed meanwhile');
    return { page, token, userId };
  }

  it('creates nothing of nobody until somebody wants that', async () => {
    const { page } = await formOf('signs out');
    const other = await page.context().newPage();
    await other.goto(bed.cluster.http().url);
    await other.locator('summary', { hasText: 'Signed in as' }).click();
    await other.getByRole('button', { name: 'Sign out' }).click();
    await other.getByRole('link', { name: 'Sign in' }).waitFor();
    await other.close();
    await create(page);
    await page.getByText('You have signed in or out since this form was opened').waitFor();
    expect(await textOf(page)).toBe('typed meanwhile');
    await page.getByRole('button', { name: 'Create without signing in' }).click();
    await created(page);
    await page.getByText('This browser keeps the delete tokens').waitFor(); // it has no owner
    await page.locator('header').getByRole('link', { name: 'Sign in' }).waitFor();
    expect(await page.getByText('Signed in as').count()).toBe(0);
  });

  it('is sent once more after signing in again in another tab', async () => {
    const { page, token, userId } = await formOf('signs in again');
    await bed.cluster.rows.query(
      'UPDATE api_tokens SET revoked_at = now() WHERE user_id = $1 AND is_session',
      [userId],
    );
    await create(page);
    await page.getByText('You are no longer signed in').waitFor();
    expect(await page.locator('#form-error').locator('button, input').count()).toBe(0);
    const opened = page.waitForEvent('popup');
    await page.locator('form').getByRole('link', { name: 'Sign in' }).click();
    const other = await opened;
    await other.getByLabel('API token').fill(token);
    await other.getByRole('button', { name: 'Sign in' }).click();
    await other.getByText('Signed in as signs in again').waitFor();
    await create(page);
    await created(page);
    expect(await page.getByLabel('Delete token').count()).toBe(0);
  });
});
