import type { BrowserContextOptions, Page } from 'playwright-core';
import { openSignedIn, type useBrowser } from './browser.ts';

type Bed = ReturnType<typeof useBrowser>;

interface Asked {
  readonly page: Page;
  readonly id: string;
  /** The path of who asks, with the private key. */
  readonly own: string;
  /** The path of those who are asked, with the public key. */
  readonly link: string;
}

/** Makes a request with the form, and saves the own link. */
export async function ask(
  bed: Bed,
  token: string,
  {
    message = '',
    deposits = 1,
    options = {},
  }: { message?: string; deposits?: number; options?: BrowserContextOptions } = {},
): Promise<Asked> {
  const page = await openSignedIn(bed, { path: '/my/requests', token, options });
  await page.locator('#message').fill(message);
  await page.locator('#deposits').fill(String(deposits));
  await page.locator('#new-request [type=submit]').click();
  await page.locator('#saved').click();
  await page.locator('#ask').waitFor();
  return { page, ...(await linksOf(page)) };
}

async function linksOf(page: Page): Promise<Omit<Asked, 'page'>> {
  const own = pathOf(await page.locator('#own').inputValue());
  const id = own.split(/[/#]/).at(-2) ?? '';
  return { id, own, link: pathOf(await page.locator('#ask').inputValue()) };
}

/** With the part behind `#`. */
export function pathOf(url: string): string {
  const { pathname, hash } = new URL(url);
  return pathname + hash;
}

/** Opens the link in a browser of its own, and sends a text. @returns the page with the receipt */
export async function send(
  { open }: Pick<Bed, 'open'>,
  link: string,
  text: string,
): Promise<{ page: Page; receipt: string }> {
  const page = await open(link);
  await page.locator('#deposit #text').fill(text);
  await page.locator('#send').click();
  return { page, receipt: await receiptOf(page) };
}

export async function receiptOf(page: Page): Promise<string> {
  await page.locator('#deposited').waitFor();
  return await page.locator('#receipt').inputValue();
}
