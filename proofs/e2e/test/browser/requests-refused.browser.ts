import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startCluster } from '../../src/index.ts';
import { insecureOriginOf, isBrowserWanted, openSignedIn, useBrowser, violationsOf } from './browser.ts';
import { ask, pathOf, send } from './requests.ts';

const describeInBrowser = isBrowserWanted() ? describe : describe.skip;

const bed = useBrowser({
  start: () => startCluster(),
  originOf: (cluster) => cluster.http().url,
  otherOrigin: () => insecureOriginOf(bed.cluster),
});
const { open } = bed;
const origin = () => bed.cluster.http().url;

const EXPIRED = 'E'.repeat(22);

/** Nothing can be typed. */
async function expectRefused(page: Page, reason: string): Promise<void> {
  await page.getByText(reason).waitFor();
  expect(await page.locator('#deposit').isVisible()).toBe(false);
  expect(await violationsOf(page)).toEqual([]);
}

describeInBrowser('nobody types a secret', () => {
  it('over http, where browsers have no cipher, and nobody makes or opens a request there', async () => {
    const { token } = await bed.cluster.user('by http');
    const { link, own } = await ask(bed, token);
    const page = await open('/docs');
    await page.goto(insecureOriginOf(bed.cluster) + link);
    await expectRefused(page, 'only on pages that were loaded by https');
    await page.setExtraHTTPHeaders({ authorization: `Bearer ${token}` }); // nobody signs in there
    await page.goto(`${insecureOriginOf(bed.cluster)}/my/requests`);
    await page.getByText('only on pages that were loaded by https').waitFor();
    expect(await page.getByRole('button', { name: 'Create the request' }).isVisible()).toBe(false);
    await page.goto(insecureOriginOf(bed.cluster) + own);
    await page.getByText('only on pages that were loaded by https').waitFor();
  });

  it('without JavaScript', async () => {
    const { token } = await bed.cluster.user('no scripts');
    const { link } = await ask(bed, token);
    const page = await open(link, { javaScriptEnabled: false });
    await page.getByText('needs JavaScript for that').waitFor();
    expect(await page.locator('#deposit').isVisible()).toBe(false);
  });

  it('before what encrypts is loaded, and nobody is told meanwhile that JavaScript is off', async () => {
    const { token } = await bed.cluster.user('slow network');
    const { link } = await ask(bed, token);
    const page = await open('/docs');
    const waiting: (() => Promise<void>)[] = [];
    await page.route('**/assets/seal-deposit*', (route) => void waiting.push(() => route.continue()));
    await page.goto(origin() + link);
    await page.locator('#needs-script').waitFor({ state: 'detached' });
    expect(await page.locator('#deposit').isVisible()).toBe(false);
    for (const goOn of waiting) await goOn();
    await page.getByLabel('Your secret').waitFor();
  });

  it.each([
    ['without its key', (link: string) => link.split('#')[0]!],
    ['that was cut', (link: string) => link.slice(0, -1)],
    [
      'with another letter',
      (link: string) => `${link.slice(0, -10)}${link.at(-10) === 'A' ? 'B' : 'A'}${link.slice(-9)}`,
    ],
    ['with the private key', (_link: string, own: string) => own.replace('/my/', '/')],
  ])('for a link %s', async (_name, change) => {
    const { token } = await bed.cluster.user(`broken ${_name}`);
    const { link, own } = await ask(bed, token);
    const page = await open(change(link, own));
    await expectRefused(page, 'The link is incomplete');
    await page.evaluate((hash) => (location.hash = hash), link.slice(link.indexOf('#')));
    await page.getByLabel('Your secret').waitFor(); // somebody has corrected the address
  });

  it.each([
    ['used up', 409, 'Request has all its deposits'],
    ['expired', 410, 'Request takes no more deposits'],
    ['closed', 410, 'Request takes no more deposits'],
    ['unknown', 404, 'Request not found'],
  ])('for a request that is %s, of which the page says nothing else', async (state, status, title) => {
    const { token } = await bed.cluster.user(`ended ${state}`);
    const { link, own, id, page: asker } = await ask(bed, token, { message: 'never shown again' });
    if (state === 'used up') await send(bed, link, 'the only one');
    if (state === 'closed') {
      await asker.getByText('Close this request', { exact: true }).click();
      await asker.getByRole('button', { name: 'Close the request' }).click();
      await asker.getByText('closed', { exact: true }).waitFor();
      expect(pathOf(asker.url())).toBe(own); // with the key
    }
    if (state === 'expired')
      await bed.cluster.rows.query(
        `INSERT INTO secret_requests (code, user_id, message, places, created_at, expires_at)
         SELECT $1, user_id, message, 1, now() - interval '1 day', now() - interval '1 s' FROM secret_requests WHERE code = $2`,
        [EXPIRED, id],
      );
    const page = await open('/docs');
    const other = { unknown: 'A'.repeat(22), expired: EXPIRED }[state];
    const path = link.replace(id, other ?? id);
    expect((await page.goto(origin() + path))?.status()).toBe(status);
    await page.getByRole('heading', { name: title }).waitFor();
    expect(await page.content()).not.toContain('never shown again');
    expect(await violationsOf(page)).toEqual([]);
  });
});

describeInBrowser('who asks, and is no longer signed in,', () => {
  it('is told so in the words of a page', async () => {
    const { token } = await bed.cluster.user('signed out meanwhile');
    const page = await openSignedIn(bed, { path: '/my/requests', token, options: {} });
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Create the request' }).click();
    await page.getByText('You have signed in or out since this form was opened').waitFor();
  });
});

describeInBrowser('who asks, without the right key,', () => {
  it('is told what can be done, and goes on with the own link when it is found', async () => {
    const { token } = await bed.cluster.user('lost key');
    const { link, own, id, page } = await ask(bed, token);
    await send(bed, link, 'found again');
    await page.goto(`${origin()}/my/requests`);
    await page.getByRole('link', { name: 'Request without words' }).click();
    await page.getByText('Then close this request, create a new one, and ask again').waitFor();
    expect(await page.getByRole('link', { name: /^Open secret/ }).count()).toBe(0);
    expect(await violationsOf(page)).toEqual([]);
    await page.getByRole('textbox', { name: 'Your own link' }).fill(origin() + link); // that of the others
    await page.getByRole('button', { name: 'Use this link' }).click();
    await page.getByText('This is not your own link of this request').waitFor();
    await page.getByRole('textbox', { name: 'Your own link' }).fill(origin() + own);
    await page.getByRole('button', { name: 'Use this link' }).click();
    await page.getByRole('link', { name: 'Open secret 1' }).click();
    await page.getByText('found again').waitFor();
    expect(id).toHaveLength(22);
    await page.goto(`${origin()}/my/pastes`);
    await page.locator('main li a[href]').first().click();
    await page.getByText('open it with your own link of that request').waitFor();
  });

  it('sees that a key of another request opens nothing, and neither does what was changed in the database', async () => {
    const { token } = await bed.cluster.user('wrong key');
    const first = await ask(bed, token, { deposits: 2 });
    const second = await ask(bed, token);
    await send(bed, first.link, 'for the first');
    const { page } = first;
    await page.goto('about:blank');
    await page.goto(`${origin()}${first.own.split('#')[0]}#${second.own.split('#')[1]}`);
    await page.getByText('The key in this link does not open it').waitFor();
    expect(await page.getByRole('link', { name: /^Open secret/ }).count()).toBe(0);
    expect(await violationsOf(page)).toEqual([]);
    await bed.cluster.rows.query(
      `UPDATE deposits SET wrapped_key = set_byte(wrapped_key, 100, get_byte(wrapped_key, 100) # 1)
       WHERE request_id = (SELECT id FROM secret_requests WHERE code = $1)`,
      [first.id],
    );
    await page.goto('about:blank');
    await page.goto(origin() + first.own);
    await page.getByText('somebody has changed what the service stores').waitFor();
    const changedAt = (index: number): string =>
      first.own.slice(0, index) + (first.own[index] === 'A' ? 'B' : 'A') + first.own.slice(index + 1);
    const ofPrivateKey = first.own.indexOf('#') + 10;
    for (const path of [`${first.own}A`, changedAt(first.own.length - 10), changedAt(ofPrivateKey)]) {
      await page.goto('about:blank');
      await page.goto(origin() + path);
      await page.getByText('This is not your own link of this request').waitFor();
      expect(await page.getByLabel('Link for others').isVisible()).toBe(false);
    }
  });

  it('comes back with the key after signing in again, and so does a change of the language', async () => {
    const { token } = await bed.cluster.user('signs in again');
    const { own, link } = await ask(bed, token);
    const page = await open(own);
    await page.getByLabel('API token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByLabel('Link for others').waitFor();
    expect(pathOf(page.url())).toBe(own);
    expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain(own.split('#')[1]);
    await page.getByRole('button', { name: 'Deutsch' }).click();
    await page.getByLabel('Link für andere').waitFor();
    expect(pathOf(page.url())).toBe(own);
    const sender = await open(link);
    await sender.getByRole('button', { name: 'Français' }).click();
    await sender.getByLabel('Votre secret').waitFor();
    expect(pathOf(sender.url())).toBe(link);
  });
});

describeInBrowser.each(['de', 'fr', 'es', 'ja', 'ar'])('on a phone whose language is %s', (locale) => {
  it('the pages of a request are in the language, and as wide as the screen', async () => {
    const { token } = await bed.cluster.user(`asks in ${locale}`);
    const options = { locale, viewport: { width: 360, height: 800 } };
    const asking = await openSignedInIn(token, options);
    const fits = async (page: Page): Promise<void> => {
      expect(await page.locator('html').getAttribute('lang')).toBe(locale);
      expect(await violationsOf(page)).toEqual([]);
      const { clientWidth, scrollWidth } = await page.evaluate(() => document.documentElement);
      expect(scrollWidth).toBe(clientWidth);
    };
    await fits(asking);
    await asking.locator('#message').fill('https://evil.example/');
    await asking.locator('#new-request [type=submit]').click();
    await asking.locator('#message-error:not(:empty)').waitFor();
    await fits(asking);
    await asking.locator('#message').fill('a key');
    await asking.locator('#new-request [type=submit]').click();
    await asking.locator('#saved').click();
    await fits(asking);
    const page = await open(pathOf(await asking.locator('#ask').inputValue()), options);
    await page.locator('#send').waitFor();
    await fits(page);
    await page.locator('#send').click(); // without a text
    await page.locator('#form-error:not(:empty)').waitFor();
    await fits(page);
    await page.locator('#text').fill('x');
    await page.locator('#send').click();
    await page.locator('#deposited').waitFor();
    await fits(page);
  });
});

/** The names of the fields are in the language. */
async function openSignedInIn(token: string, options: object): Promise<Page> {
  const page = await open(`/session?next=${encodeURIComponent('/my/requests')}`, options);
  await page.locator('#token').fill(token);
  await page.locator('form:has(#token) [type=submit]').click();
  await page.locator('#new-request').waitFor();
  return page;
}
