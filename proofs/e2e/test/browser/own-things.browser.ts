import { describe, expect, it } from '@jest/globals';
import { startCluster } from '../../src/index.ts';
import { isBrowserWanted, openSignedIn, useBrowser, violationsOf } from './browser.ts';

const describeInBrowser = isBrowserWanted() ? describe : describe.skip;

const bed = useBrowser({ start: () => startCluster(), originOf: (cluster) => cluster.http().url });

describeInBrowser.each([
  ['with JavaScript', true],
  ['without JavaScript', false],
])('somebody who is signed in, %s,', (_name, javaScriptEnabled) => {
  const signedIn = (path: string, token: string) =>
    openSignedIn(bed, { path, token, options: { javaScriptEnabled } });

  it('makes a token, whose secret is shown once, and revokes it when that is confirmed', async () => {
    const { token } = await bed.cluster.user(`tokens ${javaScriptEnabled}`);
    const page = await signedIn('/my/tokens', token);
    await page.getByLabel('Name').fill('laptop');
    await page.getByRole('button', { name: 'Make the token' }).click();
    expect(await page.getByLabel('Token', { exact: true }).inputValue()).toMatch(/^pf_/);
    await page.goto(`${bed.cluster.http().url}/my/tokens`);
    expect(await page.getByLabel('Token', { exact: true }).count()).toBe(0);
    const row = page.locator('.rows > li', { hasText: 'laptop' });
    await row.locator('summary').click();
    await row.getByRole('button', { name: 'Revoke the token laptop' }).click();
    await row.waitFor({ state: 'detached' });
  });

  it('lists the versions of a slug, which moves to a newer one', async () => {
    const { token, pastes } = await bed.cluster.user(`versions ${javaScriptEnabled}`);
    const slug = `notes-${javaScriptEnabled}`;
    const old = await pastes.create(Buffer.from('one'), { slug });
    const newer = await pastes.create(Buffer.from('two'), { parent: old.short_code });
    await bed.cluster.untilStatus(newer.short_code, 'PROCESSED');
    const page = await signedIn(`/${newer.short_code}`, token);
    await page.getByRole('button', { name: `Move ~${slug} to this version` }).click();
    await page.getByRole('link', { name: 'Version 2 of 2' }).click();
    await page.getByRole('heading', { name: 'Versions of' }).waitFor();
    await page.waitForLoadState(); // with all rows
    const versions = await page.locator('.rows > li strong').allInnerTexts();
    expect(versions).toEqual(['Version 2', 'Version 1']);
  });

  it('has the refusal of a slug beside its field, and the text stays', async () => {
    const { token, pastes } = await bed.cluster.user(`slug ${javaScriptEnabled}`);
    const slug = `taken-${javaScriptEnabled}`;
    await pastes.create(Buffer.from('first'), { slug });
    const page = await signedIn('/', token);
    await page.getByText('More options').click();
    const field = page.getByLabel('Name in the link');
    const create = page.getByRole('button', { name: 'Create paste' });
    await page.locator('#text').fill('second\nline');
    await field.fill(slug);
    await create.click();
    await page.locator('#slug-error').getByText('is taken by another paste').waitFor();
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    expect(await page.locator('#text').inputValue()).toBe('second\nline');
    if (javaScriptEnabled) expect(await violationsOf(page)).toEqual([]);
    await field.fill(`${slug}-2`);
    await create.click();
    await page.getByRole('heading', { name: 'Paste created' }).waitFor();
    expect(await page.getByLabel('Link to the paste').inputValue()).toBe(
      `${bed.cluster.http().url}/~${slug}-2`,
    );
  });

  it('erases a user when the name is typed', async () => {
    const name = `leaves ${javaScriptEnabled}`;
    const { token } = await bed.cluster.user(name);
    const page = await signedIn('/my/account', token);
    await page.getByLabel('Your name').fill('somebody else');
    await page.getByRole('button', { name: 'Erase everything' }).click();
    await page.getByText('This is not your name. Nothing was deleted.').waitFor();
    await page.getByLabel('Your name').fill(name);
    await page.getByRole('button', { name: 'Erase everything' }).click();
    await page.getByRole('heading', { name: 'You are erased' }).waitFor();
    await page.getByRole('link', { name: 'Sign in' }).waitFor();
  });
});
