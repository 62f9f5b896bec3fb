import type { Page } from 'playwright-core';
import type { Cluster } from '../../src/index.ts';
import type { useBrowser } from './browser.ts';

type Bed = ReturnType<typeof useBrowser>;

/** Fills the form, and encrypts. @returns the page with the answer, and the whole link */
export async function encrypt(
  { open }: Pick<Bed, 'open'>,
  text: string,
  { password = '', title = '', burn = false } = {},
): Promise<{ page: Page; link: string }> {
  const page = await open('/');
  await page.getByLabel('Text').fill(text);
  await page.getByLabel('Title').fill(title);
  await page.getByText('More options').click();
  await page.getByLabel('Encrypt in this browser').check();
  await page.getByLabel('Password').fill(password);
  if (burn) await page.getByLabel('Delete the paste when it is read').check();
  await page.getByRole('button', { name: 'Create paste' }).click();
  await page.getByRole('heading', { name: 'Paste created' }).waitFor();
  return { page, link: await page.getByLabel('Link to the paste').inputValue() };
}

export const codeOf = (link: string): string => new URL(link).pathname.slice(1);

/** Opens a link in another browser context, as its reader does. */
export async function openLink(
  { open, cluster }: { open: Bed['open']; cluster: Cluster },
  link: string,
): Promise<Page> {
  await cluster.untilStatus(codeOf(link), 'PROCESSED');
  const { pathname, hash } = new URL(link);
  return await open(pathname + hash);
}

export const textOf = (page: Page): Promise<string> =>
  page.evaluate(() =>
    [...document.querySelectorAll('.chunk > :is([data-n], pre)')].map((each) => each.textContent).join(''),
  );
