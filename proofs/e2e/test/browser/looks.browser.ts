import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startCluster } from '../../src/index.ts';
import { isBrowserWanted, openSignedIn, useBrowser, violationsOf } from './browser.ts';
import { storePaste } from './store-paste.ts';

const describeInBrowser = isBrowserWanted() ? describe : describe.skip;

const bed = useBrowser({ start: () => startCluster(), originOf: (cluster) => cluster.http().url });

const edgesOf = (page: Page, selector: string): Promise<readonly number[]> =>
  page
    .locator(selector)
    .first()
    .evaluate((element) => {
      const { left, right } = element.getBoundingClientRect();
      return [Math.round(left), Math.round(document.documentElement.clientWidth - right)];
    });

describeInBrowser('a text', () => {
  it.each([1200, 2400])('uses the window of %d px, and the header stands above its edges', async (width) => {
    const code = await storePaste(bed.cluster, 'const answer = 42;\n', { title: 'answer.ts' });
    const page = await bed.open(`/${code}`, { viewport: { width, height: 800 } });
    expect(await edgesOf(page, '.code')).toEqual([24, 24]);
    expect((await edgesOf(page, '.brand'))[0]).toBe(24);
    const facts = await page.locator('.line').boundingBox();
    const title = await page.locator('h1').boundingBox();
    expect(facts!.y).toBeLessThan(title!.y + title!.height); // beside it, so that more of the text is in view
  });
});

describeInBrowser('a page of one thing', () => {
  it('stands in the same column, whatever it is', async () => {
    const { token } = await bed.cluster.user('columns');
    const code = await storePaste(bed.cluster, 'text');
    const page = await openSignedIn(bed, { path: '/my/account', token, options: {} });
    const columns = [await edgesOf(page, 'main > .card:only-child')];
    for (const path of ['/my/tokens', '/my/sessions', `/${code}/report`, '/session', '/missing123']) {
      await page.goto(bed.cluster.http().url + path);
      columns.push(await edgesOf(page, 'main > .card:only-child'));
    }
    expect(columns).toEqual(columns.map(() => [240, 240]));
  });
});

describeInBrowser('the form', () => {
  it('says in one sentence what this place is, once', async () => {
    const page = await bed.open('/', { javaScriptEnabled: false });
    expect(await page.getByText('gives you a short link to share it').count()).toBe(1);
    expect(await page.locator('main .intro:not([hidden])').isVisible()).toBe(true);
  });
});

describeInBrowser('My pastes', () => {
  it('show what the filter says as soon as it changes, and the list works as before', async () => {
    const { token, pastes } = await bed.cluster.user('filters');
    for (const title of ['alpha', 'beta', 'beta 2']) await pastes.create(Buffer.from(title), { title });
    const untitled = await pastes.create(Buffer.from('kubectl get pods'), { expires_in: 3600 });
    await bed.cluster.untilStatus(untitled.short_code, 'PROCESSED');
    const page = await openSignedIn(bed, { path: '/my/pastes', token, options: {} });
    const names = page.locator('.rows p:not(.line) a');
    expect(await names.allInnerTexts()).toEqual(['kubectl get pods', 'beta 2', 'beta', 'alpha']);
    expect(await page.getByRole('button', { name: 'Filter' }).count()).toBe(0);

    await page.getByLabel('Order').selectOption('expiry');
    await page.waitForURL('**/my/pastes?sort=expiry');
    expect((await names.allInnerTexts())[0]).toBe('kubectl get pods');
    const field = page.getByLabel('Title or file name contains');
    await field.pressSequentially('BETA');
    await page.waitForURL('**/my/pastes?title=BETA&sort=expiry');
    expect(await names.allInnerTexts()).toEqual(['beta', 'beta 2']);
    expect(await field.evaluate((input) => input === document.activeElement)).toBe(true);
    expect(await page.getByRole('status').allInnerTexts()).toContain('My pastes: 2');
    expect(await violationsOf(page)).toEqual([]);
    await page.getByLabel('Select all').check();
    await page.getByRole('button', { name: 'Delete selected' }).click();
    await page.getByRole('heading', { name: 'Delete these 2 pastes?' }).waitFor();
    await page.goBack();
    expect(await names.allInnerTexts()).toEqual(['beta', 'beta 2']);

    await field.fill('none of them');
    await page.getByText('No paste matches the filter.').first().waitFor();
    await page.route('**/my/pastes?*', (route) => route.abort());
    await field.fill('');
    await page.getByRole('button', { name: 'Filter' }).waitFor(); // the server did not answer
  });

  it('are filtered as the jobs are, whose progress goes on', async () => {
    const { token } = await bed.cluster.user('filters jobs');
    const page = await openSignedIn(bed, { path: '/my/jobs', token, options: {} });
    await page.locator('summary', { hasText: 'Export' }).click();
    await page.getByRole('button', { name: 'Start export' }).click();
    await page.goto(`${bed.cluster.http().url}/my/jobs`);
    await page.getByLabel('Type').selectOption('import');
    await page.getByText('No job matches the filter.').first().waitFor();
    await page.getByLabel('Type').selectOption('export');
    await page.locator('.rows .badge.completed').waitFor();
    expect(page.url()).toContain('/my/jobs?job_type=export');
  });

  it('are filtered by the button without JavaScript', async () => {
    const { token, pastes } = await bed.cluster.user('filters by hand');
    for (const title of ['alpha', 'beta']) await pastes.create(Buffer.from(title), { title });
    const page = await openSignedIn(bed, {
      path: '/my/pastes',
      token,
      options: { javaScriptEnabled: false },
    });
    await page.getByLabel('Title or file name contains').fill('alp');
    await page.getByLabel('Order').selectOption('expiry');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.waitForURL('**/my/pastes?*title=alp*');
    expect(await page.locator('.rows p:not(.line) a').allInnerTexts()).toEqual(['alpha']);
  });
});
