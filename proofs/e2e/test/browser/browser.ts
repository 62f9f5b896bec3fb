import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import type { Cluster } from '../../src/index.ts';

const CHROMIUM = '/usr/bin/chromium';

/** Without a Chromium the tests that need one are skipped, except in CI, which must have one. */
export function isBrowserWanted(): boolean {
  // oxlint-disable-next-line node/no-process-env -- set by CI itself
  return Boolean(process.env.CI) || spawnSync(CHROMIUM, ['--version']).status === 0;
}

interface BrowserBed {
  readonly cluster: Cluster;
  readonly browser: Browser;
  /**
   * Opens a path of the origin. After the test the page is closed, and the test fails for what the page did
   * wrong.
   */
  readonly open: (path: string, options?: BrowserContextOptions) => Promise<Page>;
}

interface BrowserBedOptions {
  readonly start: () => Promise<Cluster>;
  readonly originOf: (cluster: Cluster) => string;
  /** Of each page. */
  readonly context?: BrowserContextOptions;
  /** Another origin to which pages may lead. */
  readonly otherOrigin?: () => string;
}

/** The services and a browser for the tests of a file. */
export function useBrowser({ start, originOf, context, otherOrigin }: BrowserBedOptions): BrowserBed {
  const opened: WatchedPage[] = [];
  const bed = {
    async open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
      const origin = originOf(bed.cluster);
      const origins = otherOrigin === undefined ? [origin] : [origin, otherOrigin()];
      const watched = await openPage(bed.browser, origins, { ...context, ...options });
      opened.push(watched);
      await watched.page.goto(origin + path);
      return watched.page;
    },
  } as { -readonly [Key in keyof BrowserBed]: BrowserBed[Key] };
  beforeAll(async () => {
    if (!isBrowserWanted()) return;
    bed.cluster = await start();
    bed.browser = await startBrowser();
  });
  afterEach(async () => {
    const watched = opened.splice(0);
    const faults = watched.flatMap((each) => each.faults);
    await Promise.all(watched.map((each) => each.close()));
    expect(faults).toEqual([]);
  });
  afterAll(async () => {
    await bed.browser?.close();
    await bed.cluster?.stop();
  });
  return bed;
}

/** Opens a page by signing in for it. */
export async function openSignedIn(
  { open }: Pick<BrowserBed, 'open'>,
  {
    path,
    token,
    options,
  }: { readonly path: string; readonly token: string; readonly options: BrowserContextOptions },
): Promise<Page> {
  const page = await open(`/session?next=${encodeURIComponent(path)}`, options);
  await page.getByLabel('API token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('.account', { hasText: 'Signed in as' }).waitFor();
  await page.waitForLoadState(); // by then the scripts of the page have run
  return page;
}

/** A name for 127.0.0.1. Chromium trusts that address also without https, and no name. */
const NAME = 'paste.test';

/** Where the pages of an api have what browsers give to pages that were loaded by http. */
export function insecureOriginOf(cluster: Cluster): string {
  return cluster.http().url.replace('127.0.0.1', NAME);
}

/**
 * Chromium starts two processes with each window, which would show what its address bar suggests: half of the CPU
 * time of a page. All but the last two are what Playwright leaves out, whose list this one replaces.
 */
const LEFT_OUT = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
];

/** Debian's Chromium. Its sandbox needs a user other than root. */
function startBrowser(): Promise<Browser> {
  const args = [
    '--no-sandbox',
    '--disable-dev-shm-usage',
    `--host-resolver-rules=MAP ${NAME} 127.0.0.1`,
    `--disable-features=${LEFT_OUT.join(',')}`,
  ];
  return chromium.launch({ executablePath: CHROMIUM, args });
}

interface WatchedPage {
  readonly page: Page;
  /**
   * What the page did wrong: violations of its policy, errors of scripts, dialogs, requests to other origins.
   */
  readonly faults: string[];
  close(): Promise<void>;
}

/** A page in a context of its own. */
async function openPage(
  browser: Browser,
  origins: readonly string[],
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1200, height: 800 }, ...options });
  const [origin = ''] = origins;
  if (!origin.includes(NAME))
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const faults: string[] = [];
  page.on('console', (message) => {
    if (/Content.Security.Policy/i.test(message.text())) faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('dialog', (dialog) => {
    // A page may ask before it is left. Only a script in a hostile paste would make the others.
    if (dialog.type() !== 'beforeunload') faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (!origins.some((origin) => request.url().startsWith(origin)))
      faults.push(`request to ${request.url()}`);
  });
  return { page, faults, close: () => context.close() };
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The rules of WCAG 2.2 AA that the page breaks, with the elements. */
export async function violationsOf(page: Page): Promise<readonly string[]> {
  await page.waitForLoadState(); // after a click, the page may still be without its styles
  await page.evaluate(axeSource);
  return await page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
    const { violations } = await axe.run({ runOnly: tags });
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
  });
}
