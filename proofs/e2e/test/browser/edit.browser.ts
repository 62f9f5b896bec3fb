import { describe, expect, it } from '@jest/globals';
import { startCluster } from '../../src/index.ts';
import { isBrowserWanted, openSignedIn, useBrowser, violationsOf } from './browser.ts';

const describeInBrowser = isBrowserWanted() ? describe : describe.skip;

const bed = useBrowser({ start: () => startCluster(), originOf: (cluster) => cluster.http().url });
const stored = (code: string) => bed.cluster.untilStatus(code, 'PROCESSED');
const contentOf = async (code: string) =>
  await (await fetch(`${bed.cluster.http().url}/v1/pastes/${code}/content`)).text();

/** The code of the version that has superseded a paste, which is stored. */
async function newerThan(code: string): Promise<string> {
  const [newer] = await bed.cluster.rows.query<{ short_code: string }>(
    'SELECT short_code FROM pastes WHERE supersedes = $1',
    [code],
  );
  await stored(newer!.short_code);
  return newer!.short_code;
}

describeInBrowser('the owner of a paste', () => {
  it.each([true, false])(
    'edits it, compares the versions and restores the first one; JavaScript: %s',
    async (javaScriptEnabled) => {
      const { token, pastes } = await bed.cluster.user(`edits ${javaScriptEnabled}`);
      const content = 'const waits = [1, 2, 4];\n\n/* seconds */\nexport default waits;\n';
      const { short_code: first } = await pastes.create(Buffer.from(content), { title: 'waits.js' });
      await stored(first);
      const page = await openSignedIn(bed, { path: `/${first}`, token, options: { javaScriptEnabled } });
      if (javaScriptEnabled) await page.keyboard.press('e');
      else await page.getByRole('link', { name: 'Edit', exact: true }).click();
      const text = page.getByLabel('Text');
      await text.waitFor();
      expect(await text.inputValue()).toBe(content);
      await text.fill(content.replace('4', '8'));
      if (javaScriptEnabled) expect(await violationsOf(page)).toEqual([]);
      await page.getByRole('button', { name: 'Save new version' }).click();
      if (!javaScriptEnabled) {
        await page.getByRole('heading', { name: 'New version saved' }).waitFor();
        await page.getByRole('link', { name: 'Open the paste' }).click();
      }
      await page.getByRole('heading', { name: 'waits.js' }).waitFor();
      const second = await newerThan(first);
      await page.locator('#content').waitFor(); // until it is stored, the page loads itself again
      expect(page.url()).toContain(`/${second}`);
      expect(await contentOf(second)).toBe(content.replace('4', '8'));

      await page.goto(`${bed.cluster.http().url}/${first}`);
      await page.getByText('There is a newer version of this paste.').waitFor();
      if (javaScriptEnabled) expect(await violationsOf(page)).toEqual([]);
      await page.getByRole('link', { name: 'Version 1 of 2' }).click();
      if (javaScriptEnabled) expect(await violationsOf(page)).toEqual([]);
      await page.getByLabel('Compare from version 2').check();
      await page.getByRole('button', { name: 'Compare with version 1' }).click();
      await page.waitForURL('**/diff?*');
      expect(await page.locator('mark').allInnerTexts()).toEqual(['8', '4']);
      if (javaScriptEnabled) {
        await page.waitForFunction(() => (CSS.highlights.get('keyword')?.size ?? 0) > 1);
        expect(await violationsOf(page)).toEqual([]);
      }

      await page.goto(`${bed.cluster.http().url}/${second}/history`);
      await page.getByRole('link', { name: 'Restore version 1' }).click();
      await page.getByText(`${second} is a newer version`).waitFor();
      await page.getByRole('button', { name: 'Save new version' }).click();
      await page
        .getByRole('heading', { name: javaScriptEnabled ? 'waits.js' : 'New version saved' })
        .waitFor();
      expect(await contentOf(await newerThan(second))).toBe(content);
    },
  );

  it('keeps the text when another tab was faster, and saves it after that version', async () => {
    const { token, pastes } = await bed.cluster.user('two tabs');
    const { short_code: code } = await pastes.create(Buffer.from('one\n'));
    await stored(code);
    const page = await openSignedIn(bed, { path: `/${code}/edit`, token, options: {} });
    await page.getByLabel('Text').fill('mine\n');
    await page.getByLabel('Title (optional)').fill('Mine');
    const { short_code: theirs } = await pastes.create(Buffer.from('theirs\n'), { supersedes: code });
    await stored(theirs);
    await page.getByRole('button', { name: 'Save new version' }).click();
    await page.getByText(`${theirs} is a newer version`).waitFor();
    expect(await page.getByLabel('Text').inputValue()).toBe('mine\n');
    expect(await page.getByRole('link', { name: 'What has changed' }).getAttribute('href')).toBe(
      `/${theirs}/diff?from=${code}`,
    );
    expect(await violationsOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save new version' }).click();
    await page.getByRole('heading', { name: 'Mine' }).waitFor();
    expect(await contentOf(await newerThan(theirs))).toBe('mine\n');
  });
});

describeInBrowser('somebody without an account', () => {
  it('edits with the delete token that the browser has kept, and keeps that of the new version', async () => {
    const page = await bed.open('/');
    await page.getByLabel('Text').fill('one\n');
    await page.getByRole('button', { name: 'Create paste' }).click();
    for (const content of ['two\n', 'three\n']) {
      await page.locator('button[data-copy=url]').waitFor(); // the script of the answer has kept the token
      const code = (await page.getByLabel('Link to the paste').inputValue()).split('/').at(-1)!;
      await stored(code);
      await page.goto(`${bed.cluster.http().url}/${code}`);
      await page.locator('.bar > .edit').waitFor();
      await page.keyboard.press('e');
      await page.waitForURL('**/edit');
      expect(await page.locator('#delete_token').inputValue()).not.toBe('');
      await page.getByLabel('Text').fill(content);
      await page.getByRole('button', { name: 'Save new version' }).click();
      await page.getByRole('heading', { name: 'New version saved' }).waitFor();
      expect(await contentOf(await newerThan(code))).toBe(content);
    }
  });

  it('changes the title with the delete token that the browser has kept', async () => {
    const page = await bed.open('/');
    await page.getByLabel('Text').fill('one\n');
    await page.getByRole('button', { name: 'Create paste' }).click();
    await page.locator('button[data-copy=url]').waitFor(); // the script of the answer has kept the token
    await page.getByRole('link', { name: 'Open the paste' }).click();
    await page.locator('#content').waitFor();
    await page.getByText('More', { exact: true }).click();
    await page.getByRole('link', { name: 'Change title or expiry' }).click();
    await page.waitForURL('**/change'); // the script has filled the token in
    await page.getByLabel('Title').fill('Greeting');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('heading', { name: 'Greeting' }).waitFor();
  });

  it('edits with the token by hand without JavaScript, and is asked again for a wrong one', async () => {
    const { short_code: code, delete_token: token } = await bed.cluster
      .client()
      .pastes.create(Buffer.from('one\n'));
    await stored(code);
    const page = await bed.open(`/${code}`, { javaScriptEnabled: false });
    await page.getByText('More', { exact: true }).click();
    await page.getByRole('link', { name: 'Edit with the delete token' }).click();
    await page.getByLabel('Text').fill('two\n');
    for (const entered of ['a guess', token!]) {
      await page.getByLabel('Delete token').fill(entered);
      await page.getByRole('button', { name: 'Save new version' }).click();
      if (entered !== token) await page.getByRole('alert').getByText('delete').first().waitFor();
      if (entered !== token) expect(await page.getByLabel('Text').inputValue()).toBe('two\n');
    }
    await page.getByRole('heading', { name: 'New version saved' }).waitFor();
    expect(await page.getByLabel('Delete token').inputValue()).not.toBe(token);
    expect(await contentOf(await newerThan(code))).toBe('two\n');
  });

  it.each(['light', 'dark'] as const)(
    'reads the pages on a narrow screen from right to left, in %s',
    async (colorScheme) => {
      const client = bed.cluster.client();
      const { short_code: code, delete_token: deleteToken } = await client.pastes.create(
        Buffer.from('let wait = 1; // seconds\n'.repeat(3)),
        { title: 'a.js' },
      );
      await stored(code);
      const { short_code: newer } = await client.pastes.create(
        Buffer.from('let wait = 1; // seconds\nlet delay = 2; // seconds\nlet wait = 1; // seconds\n'),
        { supersedes: code, deleteToken },
      );
      await stored(newer);
      const options = { colorScheme, viewport: { width: 390, height: 800 }, locale: 'ar' };
      for (const path of [
        `/${code}`,
        `/${code}/edit`,
        `/${code}/change`,
        `/${newer}/history`,
        `/${newer}/diff`,
      ]) {
        const page = await bed.open(path, options);
        expect([path, await violationsOf(page)]).toEqual([path, []]);
        const overflows = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
        expect([path, overflows]).toEqual([path, false]);
      }
    },
  );
});
