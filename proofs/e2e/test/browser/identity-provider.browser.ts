import { afterAll, describe, expect, it, jest } from '@jest/globals';
import { OidcIssuer } from '@pasteflow/dev-stack/testing/oidc';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { startCluster } from '../../src/index.ts';
import { isBrowserWanted, useBrowser, violationsOf } from './browser.ts';

const describeInBrowser = isBrowserWanted() ? describe : describe.skip;

/** At localhost, while the service is at 127.0.0.1: for the browser they are two sites. */
let issuer: OidcIssuer;

const bed = useBrowser({
  start: async () => {
    for (const name of ['warn', 'info'] as const) jest.spyOn(console, name).mockImplementation(() => {}); // the provider's advice
    issuer = await OidcIssuer.start([], 'RS256', 'localhost');
    const cluster = await startCluster({
      env: {
        OIDC_ISSUER: issuer.url,
        OIDC_CLIENT_ID: 'pasteflow',
        OIDC_CLIENT_SECRET: 'of pasteflow',
      },
    });
    const redirectUri = `${cluster.http().url}/session/oidc/callback`;
    await issuer.register({ id: 'pasteflow', secret: 'of pasteflow', redirectUri });
    return cluster;
  },
  originOf: (cluster) => cluster.http().url,
  otherOrigin: () => issuer.url,
});
afterAll(() => issuer?.down());

/** Goes to the provider, and says who one is there. */
async function signIn(path: string, name: string, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await bed.open(path, options);
  await page.getByRole('link', { name: `Sign in with ${new URL(issuer.url).host}` }).press('Enter');
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Name').press('Enter');
  return page;
}

describeInBrowser.each([
  ['with JavaScript', true],
  ['without JavaScript', false],
])('signing in at an identity provider of another site, %s,', (_name, javaScriptEnabled) => {
  it('leads back to the page, stays, and ends by signing out', async () => {
    const page = await signIn('/my/jobs', `anna ${javaScriptEnabled}`, { javaScriptEnabled });
    await page.getByRole('heading', { name: 'My jobs' }).waitFor();
    await page.getByText(`Signed in as anna ${javaScriptEnabled}`).waitFor();
    expect(new URL(page.url()).pathname).toBe('/my/jobs');
    const cookies = await page.context().cookies(bed.cluster.http().url);
    expect(cookies.filter(({ name }) => name.startsWith('pasteflow'))).toMatchObject([
      { name: 'pasteflow', httpOnly: true, sameSite: 'Strict', expires: -1 },
    ]);

    await page.getByRole('link', { name: 'New paste' }).click();
    await page.getByLabel('Text').fill('for anna');
    await page.getByLabel('Who can read it').selectOption('private');
    await page.getByRole('button', { name: 'Create paste' }).click();
    const url = await page.getByLabel('Link to the paste').inputValue();
    expect((await fetch(url)).status).toBe(404);

    await page.locator('summary', { hasText: 'Signed in as' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('link', { name: 'Sign in' }).waitFor();
    await page.context().addCookies(cookies); // kept by somebody
    await page.goto(`${bed.cluster.http().url}/my/jobs`);
    await page.getByText('your token has expired or was revoked').waitFor();
  });
});

describeInBrowser('a key in the address', () => {
  it('is there again after signing in, and the provider gets none', async () => {
    const page = await signIn('/my/requests', 'with a key');
    await page.getByRole('button', { name: 'Create the request' }).click();
    await page.getByRole('button', { name: 'I have saved it' }).click();
    const own = page.url();
    await page.context().clearCookies();
    await page.goto('about:blank');
    await page.goto(own);
    await page.getByRole('link', { name: /^Sign in with/ }).click();
    await page.getByLabel('Name').waitFor();
    expect(page.url()).not.toContain(own.split('#')[1]);
    await page.getByLabel('Name').fill('with a key');
    await page.getByLabel('Name').press('Enter');
    await page.getByLabel('Link for others').waitFor();
    expect(page.url()).toBe(own);
  });
});

describeInBrowser('the list of sessions', () => {
  it.each([
    ['with JavaScript', true],
    ['without JavaScript', false],
  ])('shows the browsers in which one is signed in, and ends them: %s', async (_name, javaScriptEnabled) => {
    const name = `sessions ${javaScriptEnabled}`;
    const others = [await signIn('/my/jobs', name), await signIn('/my/jobs', name)];
    for (const page of others) await page.getByRole('heading', { name: 'My jobs' }).waitFor();
    const page = await signIn('/my/sessions', name, { javaScriptEnabled });
    await page.getByRole('heading', { name: 'My sessions' }).waitFor();
    await page.waitForLoadState(); // with all rows
    expect(await page.locator('.rows > li').count()).toBe(3);
    expect(await page.getByText('This browser').count()).toBe(1);
    await page
      .getByRole('button', { name: /^End the session that began at / })
      .first()
      .click();
    await page.locator('.rows > li').nth(2).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'End all other sessions' }).click();
    await page.locator('.rows > li').nth(1).waitFor({ state: 'detached' });
    await page.getByText('This browser').waitFor();
    await page.waitForLoadState();
    expect(await page.getByRole('button', { name: 'End' }).count()).toBe(0);
    for (const ended of others) {
      await ended.reload();
      await ended.getByText('your session has ended').waitFor();
    }
  });
});

describeInBrowser('a sign-in that the person cancels', () => {
  it('ends on the page to sign in, with the reason', async () => {
    const page = await bed.open('/my/pastes');
    await page.getByRole('link', { name: /^Sign in with/ }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('The sign-in was cancelled').waitFor();
    expect(await violationsOf(page)).toEqual([]);
  });
});
