import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '@pasteflow/dev-stack/testing';
import { startCluster } from '../../src/index.ts';
import { isBrowserWanted, openSignedIn, useBrowser, violationsOf } from './browser.ts';

const describeInBrowser = isBrowserWanted() ? describe : describe.skip;

/** The program of the user. */
let receiver: Server;
const receiverUrl = () => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
beforeAll(async () => {
  receiver = createServer((req, res) => void req.resume().on('end', () => res.writeHead(204).end()));
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
});
afterAll(() => new Promise((resolve) => receiver.close(resolve).closeAllConnections()));

const bed = useBrowser({
  start: () =>
    startCluster({
      env: { WEBHOOK_KEY: 'the key of webhooks in these browser tests', WEBHOOK_ORIGINS: receiverUrl() },
    }),
  originOf: (cluster) => cluster.http().url,
});

describeInBrowser.each([
  ['with JavaScript', true],
  ['without JavaScript', false],
])('somebody who is signed in, %s,', (_name, javaScriptEnabled) => {
  it('adds a webhook, sees what it was sent, sends it again, changes the secret, and removes it', async () => {
    const { token, userId, pastes } = await bed.cluster.user(`webhooks ${javaScriptEnabled}`);
    const delivered = (count: number) =>
      until(
        () =>
          bed.cluster.rows.query(
            `SELECT FROM webhook_deliveries WHERE user_id = $1 AND status = 'DELIVERED'`,
            [userId],
          ),
        (rows) => rows.length === count,
      );
    const page = await openSignedIn(bed, { path: '/my/account', token, options: { javaScriptEnabled } });
    await page.locator('summary', { hasText: 'Signed in as' }).click();
    await page.getByRole('link', { name: 'My webhooks' }).click();
    await page.getByText('You have no webhooks yet.').waitFor();
    await page.getByLabel('URL of your program').fill('https://localhost/hook');
    await page.getByLabel('Paste stored').check();
    await page.getByRole('button', { name: 'Add the webhook' }).click();
    await page.getByText('This address cannot be reached from the internet.').waitFor();
    await page.getByRole('checkbox', { name: 'Paste stored', checked: true }).waitFor();
    await page.getByLabel('URL of your program').fill(`${receiverUrl()}/hook`);
    await page.getByRole('button', { name: 'Add the webhook' }).click();
    await page.getByRole('heading', { name: 'The webhook is added' }).waitFor();
    const secret = await page.getByLabel('Signing secret').inputValue();
    expect(secret).toMatch(/^whsec_/);
    if (javaScriptEnabled) {
      await page.getByRole('button', { name: 'Copy', exact: true }).click();
      await page.getByRole('button', { name: 'Copied' }).waitFor();
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(secret);
      expect(await violationsOf(page)).toEqual([]);
    }

    await page.getByRole('link', { name: `${receiverUrl()}/hook` }).click();
    await page.getByText('There are no deliveries yet.').waitFor();
    const { short_code: code } = await pastes.create(Buffer.from('told'));
    await delivered(1);
    if (!javaScriptEnabled) await page.reload();
    await page.getByRole('link', { name: `Paste ${code}` }).waitFor();
    await page.locator('.rows .badge', { hasText: 'delivered' }).waitFor();
    await page.emulateMedia({ media: 'print' });
    await page.locator('code', { hasText: `${receiverUrl()}/hook` }).waitFor();
    await page.emulateMedia({ media: 'screen' });
    await page.getByRole('button', { name: 'Send again' }).click();
    const again = page.locator('.rows > li', { hasText: 'sent again' });
    await again.waitFor();
    await delivered(2);
    if (javaScriptEnabled) await again.locator('.badge', { hasText: 'delivered' }).waitFor(); // by itself

    await page.getByText('Change the signing secret').click();
    await page.getByRole('button', { name: 'Make a new secret' }).click();
    await page.getByRole('heading', { name: 'The signing secret is changed' }).waitFor();
    expect(await page.getByLabel('Signing secret').inputValue()).not.toBe(secret);
    await page.getByText('Remove this webhook').click();
    await page.getByRole('button', { name: 'Remove the webhook' }).click();
    await page.getByText('You have no webhooks yet.').waitFor();
  });
});
