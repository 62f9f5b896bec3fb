import { describe, expect, it } from '@jest/globals';
import type { Page, Request } from 'playwright-core';
import { startCluster } from '../../src/index.ts';
import { BuiltCli } from '../support/packed-cli.ts';
import { isBrowserWanted, openSignedIn, useBrowser, violationsOf } from './browser.ts';
import { textOf } from './encrypt.ts';
import { ask, pathOf, receiptOf, send } from './requests.ts';

const describeInBrowser = isBrowserWanted() ? describe : describe.skip;

const bed = useBrowser({
  start: () => startCluster({ house: { links: { abuse: 'abuse@paste.example.org' } } }),
  originOf: (cluster) => cluster.http().url,
});
const { open } = bed;

/** All that a browser has sent. */
async function sentBy(requests: readonly Request[]): Promise<string> {
  const parts = requests.map(
    async (each) => `${each.url()} ${JSON.stringify(await each.allHeaders())} ${each.postData() ?? ''}`,
  );
  return (await Promise.all(parts)).join('\n');
}

const recordedOf = (page: Page): readonly Request[] => {
  const requests: Request[] = [];
  page.context().on('request', (request) => requests.push(request));
  return requests;
};

const depositsOf = async (id: string): Promise<number> => {
  const [row] = await bed.cluster.rows.query(
    'SELECT count(*)::int AS deposits FROM deposits d JOIN secret_requests r ON r.id = d.request_id WHERE r.code = $1',
    [id],
  );
  return (row as { deposits: number }).deposits;
};

/** At most as wide as the screen, and WCAG 2.2 AA. */
async function expectFit(page: Page): Promise<void> {
  expect(await violationsOf(page)).toEqual([]);
  const { clientWidth, scrollWidth } = await page.evaluate(() => document.documentElement);
  expect(scrollWidth).toBe(clientWidth);
}

describeInBrowser('a secret that somebody asks for', () => {
  it('goes from one browser to another, while no request has a key or the text', async () => {
    const { token } = await bed.cluster.user('anna');
    const message = 'The password of the staging database, please';
    const asker = await ask(bed, token, { message, deposits: 2 });
    const ofAsker = recordedOf(asker.page);
    const list = await asker.page.context().newPage();
    await list.goto(`${bed.cluster.http().url}/my/requests`);
    await list.getByText('0 of 2 arrived').waitFor();
    await asker.page.locator('#own').focus();
    const page = await open('/docs');
    const ofSender = recordedOf(page);
    await page.goto(bed.cluster.http().url + asker.link);
    await page.getByRole('heading', { name: 'You are asked for a secret' }).waitFor();
    await page.locator('#asked', { hasText: 'Asked by' }).getByText('anna').waitFor();
    expect(await page.locator('blockquote').textContent()).toBe(message);
    await page.getByText('Nobody has checked these words').waitFor();
    expect(await page.getByRole('link', { name: 'Report this request' }).getAttribute('href')).toBe(
      'mailto:abuse@paste.example.org',
    );
    await page.getByLabel('Your secret').fill('hunter2 is no password');
    await page.getByRole('button', { name: 'Encrypt and send' }).click();
    const receipt = await receiptOf(page);
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Your secret is sent');
    await bed.cluster.untilStatus(receipt, 'PROCESSED');

    await list.getByText('1 of 2 arrived').waitFor(); // nobody reloads either page
    const opening = asker.page.getByRole('link', { name: 'Open secret 1' });
    await opening.waitFor();
    await asker.page.getByText('1 of 2 arrived').waitFor();
    expect(await asker.page.evaluate(() => document.activeElement?.id)).toBe('own');
    await opening.click();
    await asker.page.getByText('hunter2 is no password').waitFor();
    expect(pathOf(asker.page.url())).toMatch(new RegExp(`^/${receipt}#`));
    const sent =
      (await sentBy([...ofAsker, ...ofSender])) + (await (await fetch(bed.cluster.http().url)).text());
    expect(sent).toContain('wrapped_key');
    for (const secret of [asker.own, asker.link].map((path) => path.split('#')[1]!))
      expect(sent).not.toContain(secret);
    expect(sent).not.toContain('hunter2');
    expect((await fetch(`${bed.cluster.http().url}/${receipt}`)).status).toBe(404); // it opens nothing
  });

  it('shows the link for others when the own one is saved, both again by the own one, and asks before it is lost', async () => {
    const { token } = await bed.cluster.user('careful');
    const page = await openSignedIn(bed, { path: '/my/requests', token, options: {} });
    await page.getByRole('button', { name: 'Create the request' }).click();
    await page.getByText('Save this link: without it nobody').waitFor();
    expect(await page.locator('#pass').isVisible()).toBe(false);
    const asked = page.waitForEvent('dialog');
    await page.getByRole('link', { name: 'API' }).first().click();
    expect((await asked).type()).toBe('beforeunload');
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download the link as a file' }).click();
    const file = await (await download).createReadStream();
    expect(Buffer.concat(await file.toArray()).toString()).toBe(`${page.url()}\n`);
    await page.getByRole('button', { name: 'I have saved it' }).click();
    const link = await page.locator('#ask').inputValue();
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('ask');

    const again = await openSignedIn(bed, { path: '/my/pastes', token, options: {} });
    await again.goto(page.url());
    await again.locator('#ask').waitFor();
    expect(await again.locator('#ask').inputValue()).toBe(link);
    expect(await again.locator('#own').inputValue()).toBe(page.url());
  });

  it.each([
    [
      'a dark phone of 320 pixels',
      { viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true, colorScheme: 'dark' },
    ],
    ['a wide screen', { colorScheme: 'light' }],
  ] as const)('is several files, byte for byte, on %s', async (_name, options) => {
    const { token } = await bed.cluster.user(`files ${_name}`);
    const asker = await ask(bed, token, { message: 'x'.repeat(200), deposits: 20, options });
    await expectFit(asker.page);
    await asker.page.goto(`${bed.cluster.http().url}/my/requests`);
    await asker.page.getByText('0 of 20 arrived').waitFor();
    await expectFit(asker.page);
    const page = await open(asker.link, options);
    await page.locator('#send').waitFor();
    await page.locator('#file').setInputFiles([
      { name: 'id_ed25519', mimeType: 'application/octet-stream', buffer: Buffer.from('key of a machine\n') },
      { name: 'random.bin', mimeType: 'application/octet-stream', buffer: Buffer.from([0, 255, 13, 10, 0]) },
    ]);
    await page.locator('fieldset.file').nth(1).waitFor();
    await expectFit(page);
    await page.locator('#send').click();
    const receipt = await receiptOf(page);
    await expectFit(page);
    const tab = page.context().waitForEvent('page');
    await page.getByRole('link', { name: 'Send another secret' }).click({ modifiers: ['ControlOrMeta'] });
    await (await tab).locator('#deposit #text').waitFor();
    expect(await receiptOf(page)).toBe(receipt); // it stays in its own tab
    await page.getByRole('link', { name: 'Send another secret' }).click();
    await page.locator('#deposit #text').waitFor(); // with the key in the address
    await bed.cluster.untilStatus(receipt, 'PROCESSED');
    await asker.page.goto(bed.cluster.http().url + asker.own);
    await asker.page.getByRole('link', { name: 'Open secret 1' }).waitFor();
    await expectFit(asker.page);
    await asker.page.getByRole('link', { name: 'Open secret 1' }).click();
    await asker.page.getByRole('heading', { name: 'random.bin' }).waitFor();
    const saved = asker.page.waitForEvent('download');
    await asker.page
      .locator('article', { hasText: 'random.bin' })
      .getByRole('link', { name: 'Download' })
      .click();
    const bytes = Buffer.concat(await (await (await saved).createReadStream()).toArray());
    expect([...bytes]).toEqual([0, 255, 13, 10, 0]);
    expect(await textOf(asker.page)).toContain('key of a machine');
  });

  it('works with the keyboard alone, and the link that skips the navigation keeps the key', async () => {
    const { token } = await bed.cluster.user('keyboard asks');
    const { link, id } = await ask(bed, token);
    const page = await open(link);
    await page.getByLabel('Your secret').waitFor();
    expect(await page.getByText('Nobody has checked').count()).toBe(0); // there are none
    await page.keyboard.press('Tab');
    await page.locator('.skip:focus').waitFor();
    await page.keyboard.press('Enter');
    await page.locator('main:focus').waitFor();
    expect(pathOf(page.url())).toBe(link);
    for (let i = 0; i < 8 && (await page.locator('#text:focus').count()) === 0; i += 1)
      await page.keyboard.press('Tab');
    await page.keyboard.type('typed');
    await page.keyboard.press('Control+Enter');
    await receiptOf(page);
    expect(await depositsOf(id)).toBe(1);
  });
});

describeInBrowser('a secret between a browser and a shell', () => {
  it('goes from one to the other and back, by links that either has made', async () => {
    const { token } = await bed.cluster.user('both');
    const server = bed.cluster.http().url;
    const cli = await BuiltCli.build();
    const run = async (args: readonly string[], stdin = ''): Promise<string> => {
      const { code, stdout, stderr } = await cli.run(args, { server, token, stdin });
      expect([args, code, stderr]).toEqual([args, 0, expect.anything()]);
      return stdout.trim();
    };
    try {
      const asked = await run(['ask', 'From a shell', '--deposits', '2']);
      await send(bed, pathOf(asked), 'typed in a browser\n');
      const id = asked.split(/[/#]/).at(-2)!;
      expect(await run(['answers', id])).toBe('typed in a browser');
      await run(['deposit', asked], 'piped in a shell');

      const own = pathOf(await run(['answers', id, '--link']));
      const page = await openSignedIn(bed, { path: '/my/pastes', token, options: {} });
      await page.goto(server + own);
      await page.getByRole('link', { name: 'Open secret 2' }).click();
      await page.getByText('piped in a shell').waitFor();

      const byBrowser = await ask(bed, token);
      await run(['deposit', server + byBrowser.link], 'for a request of a browser');
      expect(await run(['answers', server + byBrowser.own])).toBe('for a request of a browser');
      await byBrowser.page.getByRole('link', { name: 'Open secret 1' }).click();
      await byBrowser.page.getByText('for a request of a browser').waitFor();
    } finally {
      await cli.remove();
    }
  });
});

describeInBrowser('an upload whose answer is lost', () => {
  it('keeps what was typed, and is repeated as the same deposit, also for the last place', async () => {
    const { token } = await bed.cluster.user('lost answer');
    const { link, id, page: asker, own } = await ask(bed, token);
    const page = await open(link);
    await page.getByLabel('Your secret').fill('sent twice');
    await page.route('**/deposits', async (route) => {
      await route.fetch();
      await route.abort();
    });
    const sendButton = page.getByRole('button', { name: 'Encrypt and send' });
    await sendButton.click();
    await page.getByText('The server did not answer. Your text is still here').waitFor();
    expect(await depositsOf(id)).toBe(1);
    expect(await page.getByLabel('Your secret').inputValue()).toBe('sent twice');
    await page.unroute('**/deposits');
    await sendButton.click();
    const receipt = await receiptOf(page);
    await bed.cluster.untilStatus(receipt, 'PROCESSED');
    expect(await depositsOf(id)).toBe(1);
    await asker.getByText('complete', { exact: true }).waitFor(); // the page has shown it by itself
    expect([pathOf(asker.url()), await asker.locator('#ask').count()]).toEqual([own, 0]);
    await asker.getByRole('link', { name: 'Open secret 1' }).click();
    await asker.getByText('sent twice').waitFor();
  });

  it('shows how much is sent, and keeps the text when the request has ended meanwhile', async () => {
    const { token } = await bed.cluster.user('too late');
    const { link } = await ask(bed, token);
    const page = await open(link);
    await page.getByLabel('Your secret').fill('too late');
    const first = await send(bed, link, 'first');
    expect(first.receipt).not.toBe('');
    let wasShown = false;
    await page.route('**/deposits', async (route) => {
      wasShown = await page.getByRole('progressbar').isVisible();
      await route.continue();
    });
    await page.getByRole('button', { name: 'Encrypt and send' }).click();
    await page.getByText('This request has all the deposits that it takes').waitFor();
    expect(wasShown).toBe(true);
    expect(await page.getByLabel('Your secret').inputValue()).toBe('too late');
    expect(await violationsOf(page)).toEqual([]);
  });
});
