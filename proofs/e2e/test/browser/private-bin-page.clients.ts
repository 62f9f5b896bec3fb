// `npm run proof -- privatebin`: what the pages encrypt, PBinCLI opens, and the other way round.
import { afterAll, describe, expect, it, jest } from '@jest/globals';
import { startCluster } from '../../src/index.ts';
import { PBinCli } from '../support/pbincli.ts';
import { isBrowserWanted, useBrowser } from './browser.ts';

jest.setTimeout(600_000); // the first run installs PBinCLI
const describeInBrowser = isBrowserWanted() ? describe : describe.skip;

const bed = useBrowser({ start: () => startCluster(), originOf: (cluster) => cluster.http().url });
let client: PBinCli | undefined;
afterAll(() => client?.remove());

async function pbincli(): Promise<PBinCli> {
  client ??= await PBinCli.install(`${bed.cluster.http().url}/`);
  return client;
}

describeInBrowser('PBinCLI and the pages', () => {
  it.each(['', 'pässword'])(
    'PBinCLI gets what a page has encrypted, with the password %j',
    async (password) => {
      const page = await bed.open('/');
      await page.getByLabel('Text').fill('from the page: Grüße\n');
      await page.getByText('More options').click();
      await page.getByLabel('Encrypt in this browser').check();
      await page.getByLabel('Password').fill(password);
      await page.getByRole('button', { name: 'Create paste' }).click();
      const link = await page.getByLabel('Link to the paste').inputValue();
      const id = new URL(link).pathname.slice(1);
      const files = await (
        await pbincli()
      ).get(link.replace(`/${id}#`, `/?${id}#`), password === '' ? [] : ['-p', password]);
      expect(files.get(`paste-${id}.txt`)?.toString()).toBe('from the page: Grüße\n');
    },
  );

  it.each(['', 'pässword'])(
    'a page shows what PBinCLI has sent, at its own link, with the password %j',
    async (password) => {
      const args = ['-t', 'from PBinCLI: Grüße', ...(password === '' ? [] : ['-p', password])];
      const { id, link } = await (await pbincli()).send(args);
      await bed.cluster.untilStatus(id, 'PROCESSED');
      const { pathname, search, hash } = new URL(link);
      const page = await bed.open(pathname + search + hash);
      if (password !== '') {
        await page.getByLabel('Password').fill(password);
        await page.getByRole('button', { name: 'Decrypt' }).click();
      }
      await page.getByText('from PBinCLI: Grüße').waitFor();
      expect(new URL(page.url()).pathname).toBe(`/${id}`);
    },
  );
});
