import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { startCluster } from '../../src/index.ts';
import { isBrowserWanted, openSignedIn, useBrowser, violationsOf } from './browser.ts';

const describeInBrowser = isBrowserWanted() ? describe : describe.skip;

/** At localhost, while the service is at 127.0.0.1: for the browser they are two sites. Its one link is what `?` has. */
let chat: Server;
const chatUrl = (): string => `http://localhost:${(chat.address() as AddressInfo).port}`;
beforeAll(async () => {
  chat = createServer((req, res) => {
    const link = decodeURIComponent(req.url?.split('?')[1] ?? '');
    res
      .setHeader('Content-Type', 'text/html')
      .end(`<!doctype html><title>chat</title><a href="${link}">a link</a>`);
  }).listen(0, 'localhost');
  await once(chat, 'listening');
});
afterAll(() => {
  chat.close();
  chat.closeAllConnections();
});

const bed = useBrowser({
  start: () => startCluster(),
  originOf: (cluster) => cluster.http().url,
  otherOrigin: chatUrl,
});

/** Clicks a link to this path in the chat. */
async function click(page: Page, path: string): Promise<void> {
  await page.goto(`${chatUrl()}/?${encodeURIComponent(bed.cluster.http().url + path)}`);
  await page.getByRole('link', { name: 'a link' }).click();
}

let users = 0;
const newUser = async () => await bed.cluster.user(`member ${(users += 1)}`);

const member = async (options: BrowserContextOptions = {}): Promise<Page> =>
  await openSignedIn(bed, { path: '/', token: (await newUser()).token, options });

async function pasteFor(visibility: 'members' | 'private', text: string): Promise<string> {
  const { pastes } = await newUser();
  const { short_code: code } = await pastes.create(Buffer.from(text), { visibility });
  await bed.cluster.untilStatus(code, 'PROCESSED');
  return code;
}

describeInBrowser.each([
  ['with JavaScript', true],
  ['without JavaScript', false],
])('a click on a link in a chat, %s,', (_name, javaScriptEnabled) => {
  it('opens a paste for members for somebody who is signed in, and Back leads to the chat', async () => {
    const code = await pasteFor('members', 'one\ntwo\nthree');
    const page = await member({ javaScriptEnabled });
    await click(page, `/${code}`);
    await page.getByText('three').waitFor();
    expect(new URL(page.url()).pathname).toBe(`/${code}`);
    await page.goBack();
    await page.getByRole('link', { name: 'a link' }).waitFor();
  });

  it('leads to a page that says the same of a private paste of somebody else and of none at all', async () => {
    const page = await member({ javaScriptEnabled });
    for (const code of [await pasteFor('private', 'mine'), 'n0neOfThem']) {
      await click(page, `/${code}`);
      await page.getByRole('heading', { name: 'Paste not found' }).waitFor();
      expect(new URL(page.url()).pathname).toBe(`/${code}`);
    }
  });

  it('opens a page of one’s own', async () => {
    const page = await member({ javaScriptEnabled });
    await click(page, '/my/pastes');
    await page.getByRole('heading', { name: 'My pastes' }).waitFor();
  });

  it('leads somebody who is not signed in to sign in, and back', async () => {
    const code = await pasteFor('members', 'read after signing in');
    const page = await bed.open('/', { javaScriptEnabled });
    await click(page, `/${code}`);
    await page.getByRole('link', { name: 'Sign in, if not everybody can read it' }).click();
    await page.getByLabel('API token').fill((await newUser()).token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('read after signing in').waitFor();
    expect(new URL(page.url()).pathname).toBe(`/${code}`);
  });
});

describeInBrowser('the part of a link behind #', () => {
  it('stays when another site leads to it: the lines are selected', async () => {
    const code = await pasteFor('members', 'one\ntwo\nthree');
    const page = await member();
    await click(page, `/${code}#L2`);
    await page.locator('.selected', { hasText: 'two' }).waitFor();
    expect(new URL(page.url()).hash).toBe('#L2');
  });

  it('stays while somebody signs in: the key opens an encrypted paste for members', async () => {
    const author = await member();
    await author.getByLabel('Text').fill('a secret for members');
    await author.getByLabel('Who can read it').selectOption('members');
    await author.getByText('More options').click();
    await author.getByLabel('Encrypt in this browser').check();
    await author.getByRole('button', { name: 'Create paste' }).click();
    await author.getByRole('heading', { name: 'Paste created' }).waitFor();
    await author.getByText('only people who are signed in can read it').waitFor();
    const { pathname, hash } = new URL(await author.getByLabel('Link to the paste').inputValue());
    await bed.cluster.untilStatus(pathname.slice(1), 'PROCESSED');

    const page = await bed.open('/');
    await click(page, pathname + hash);
    await page.getByRole('link', { name: 'Sign in, if not everybody can read it' }).click();
    await page.getByLabel('API token').fill((await newUser()).token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('a secret for members').waitFor();
    expect(new URL(page.url()).hash).toBe(hash);
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
    await page.locator('.badge.members').waitFor();
    expect(await violationsOf(page)).toEqual([]);
  });
});

describeInBrowser('a paste', () => {
  it('is made for members by its owner at the page Change, and listed by its readers', async () => {
    const { token, pastes } = await newUser();
    const { short_code: code } = await pastes.create(Buffer.from('to change'));
    await bed.cluster.untilStatus(code, 'PROCESSED');
    const page = await openSignedIn(bed, { path: `/${code}/change`, token, options: {} });
    await page.getByLabel('Who can read it').selectOption('members');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('.badge.members').waitFor();
    expect((await fetch(`${bed.cluster.http().url}/${code}`)).status).toBe(404);
    await page.goto(`${bed.cluster.http().url}/my/pastes?visibility=members`);
    await page.locator('.rows > li', { hasText: 'Members' }).waitFor();
  });
});

describeInBrowser('the link of an invitation in a chat', () => {
  it('signs this browser in once a button is pressed, without JavaScript, and stays signed in for 30 days', async () => {
    const { userId } = await newUser();
    const secret = randomBytes(32).toString('base64url');
    await bed.cluster.rows.query(
      `INSERT INTO invitations (user_id, secret_hash, expires_at) VALUES ($1, sha256($2), now() + interval '1 hour')`,
      [userId, Buffer.from(secret)],
    );
    const viewport = { width: 360, height: 640 };
    const page = await bed.open('/docs', { javaScriptEnabled: false, viewport });
    await click(page, `/invitation/${secret}`);
    await page.getByRole('heading', { name: 'You are invited' }).waitFor();
    await page.getByRole('button', { name: 'Sign in on this device' }).click();
    await page.getByRole('heading', { name: 'You are signed in' }).waitFor();
    const cookies = await page.context().cookies();
    const cookie = cookies.find(({ name }) => name === 'pasteflow');
    expect((cookie!.expires - Date.now() / 1000) / 86_400).toBeCloseTo(30, 0);
    await page.getByRole('link', { name: 'Continue' }).click();
    await page.getByRole('heading', { name: 'New paste' }).waitFor();
    await page.locator('.account', { hasText: 'Signed in as member' }).waitFor();
    await click(page, `/invitation/${secret}`); // which leads on, once the browser says who it is
    await page.getByRole('heading', { name: 'New paste' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/');
  });
});
