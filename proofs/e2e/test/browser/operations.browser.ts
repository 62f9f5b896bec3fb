import { mkdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { freePort } from '../../src/ports.ts';
import { startCluster } from '../../src/index.ts';
import { isBrowserWanted, useBrowser, violationsOf } from './browser.ts';

const describeInBrowser = isBrowserWanted() ? describe : describe.skip;
const NARROW = { viewport: { width: 320, height: 640 } };
const TOKEN = 'the-token-of-operators';

/** Where to leave pictures of the pages, for people to look at. */
const { SCREENSHOTS } = process.env; // oxlint-disable-line node/no-process-env -- only when somebody wants to look

let origin = '';
const bed = useBrowser({
  start: async () => {
    const port = await freePort();
    origin = `http://127.0.0.1:${port}`;
    return await startCluster({ env: { OPS_PORT: String(port), OPS_TOKEN: TOKEN } });
  },
  originOf: () => origin,
  context: { httpCredentials: { username: 'alice', password: TOKEN } },
});
const { open } = bed;

async function stored(content: string): Promise<string> {
  const { short_code } = await bed.cluster
    .client()
    .pastes.create(Buffer.from(content), { title: '<script>alert(1)</script>' });
  await bed.cluster.untilStatus(short_code, 'PROCESSED');
  return short_code;
}

/** With a title that fills its line. */
async function report(code: string): Promise<void> {
  await bed.cluster.rows.query(`UPDATE pastes SET title = $1 WHERE short_code = $2`, [
    'word '.repeat(36),
    code,
  ]);
  await bed.cluster.rows.query(
    `INSERT INTO paste_reports (paste_id, content_hash, class, reporter)
     SELECT id, content_hash, 'spam', sha256('a') FROM pastes WHERE short_code = $1`,
    [code],
  );
}

async function keepPicture(page: Page, name: string): Promise<void> {
  if (SCREENSHOTS === undefined) return;
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: `${SCREENSHOTS}/${name}.png`, fullPage: true });
}

/** Takes a paste down. @returns the path of the page that shows the outcome */
async function outcomeOf(code: string): Promise<string> {
  const page = await open(`/confirm/takedown?subject=${code}`);
  await page.getByLabel('Class shown to readers').selectOption('malware');
  await page.getByLabel('Reason').fill('report 4711');
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.waitForURL(/\/actions\//);
  return new URL(page.url()).pathname;
}

describeInBrowser('the operations page', () => {
  it.each([
    ['with JavaScript', {}],
    ['without JavaScript', { javaScriptEnabled: false }],
  ])('finds a paste and takes it down %s', async (_name, options) => {
    const code = await stored(`bad ${JSON.stringify(options)}`);
    const page = await open('/', options);
    await page.getByRole('search').getByRole('textbox').fill(code);
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByRole('heading', { name: `Paste ${code}` }).waitFor();
    await page.getByRole('link', { name: 'Take down' }).click();
    await page.getByText('This takes down 1 paste.').waitFor();
    await page.getByLabel('Class shown to readers').selectOption('malware');
    await page.getByLabel('Reason').fill('report 4711 <b>bold</b>');
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.waitForURL(/\/actions\//);
    await page.getByText(`Took ${code} down.`).waitFor(); // the page follows the action by itself
    expect((await fetch(`${bed.cluster.http().url}/${code}`)).status).toBe(451);
    await page.getByRole('link', { name: 'Back to the overview' }).click();
    await page.getByText('report 4711 <b>bold</b>').first().waitFor();
  });

  it('shows new figures by itself while it is in view, and asks for nothing while it is hidden', async () => {
    const page = await open('/');
    await page.clock.install(); // which runs, and can be turned forward
    await page.reload();
    let requests = 0;
    page.on('request', () => (requests += 1));
    const readAt = () => page.locator('#live .hint').first().textContent();
    const first = await readAt();
    await bed.cluster.until(
      async () => {
        await page.clock.runFor(10_000); // one interval
        return await readAt();
      },
      (text) => text !== first,
    );
    expect(requests).toBeGreaterThan(0);
    await page.evaluate(() => {
      Object.defineProperty(document, 'hidden', { get: () => true });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    await page.waitForLoadState('networkidle');
    requests = 0;
    await page.clock.runFor(60_000);
    expect(requests).toBe(0);
  });

  it('keeps every column of a list in view beside a long title without spaces', async () => {
    const title = 'w'.repeat(200);
    await bed.cluster.client().pastes.create(Buffer.from('titled'), { title });
    const page = await open(`/pastes?title=${title}`);
    await page.getByRole('cell', { name: title }).waitFor();
    const list = page.getByRole('region', { name: 'Pastes' });
    expect(await list.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
  });

  it('does not let another site act', async () => {
    const code = await stored('stays');
    const page = await open('/');
    const cross = await page.request.post(`${origin}/act/takedown`, {
      form: { subject: code, count: '1', reason: 'x', class: 'spam' },
      headers: { origin: 'https://evil.example' },
    });
    expect(cross.status()).toBe(403);
    expect((await fetch(`${bed.cluster.http().url}/${code}`)).status).toBe(200);
  });

  it.each([
    ['light', {}],
    ['narrow dark', { ...NARROW, colorScheme: 'dark' as const }],
  ])('breaks no rule of WCAG 2.2 AA, and never scrolls sideways: %s', async (name, options) => {
    const code = await stored('to look at');
    await report(code);
    const user = await bed.cluster.user(`operations ${name}`);
    await user.pastes.create(Buffer.from('of a user'));
    const { job_id: job } = await user.jobs.create({ job_type: 'export', parameters: {} });
    await user.jobs.wait(job);
    const page = await open('/', options);
    for (const [path, title] of [
      ['/', 'overview'],
      [`/pastes/${code}`, 'paste'],
      [`/jobs/${job}`, 'job'],
      [`/users/${user.userId}`, 'user'],
      ['/pastes', 'pastes'],
      ['/workers', 'workers'],
      ['/reports', 'reports'],
      [`/confirm/takedown?subject=${code}`, 'confirm'],
      ['/pastes/nothing', 'refusal'],
      [await outcomeOf(await stored(`bad ${name}`)), 'outcome'],
    ] as const) {
      await page.goto(origin + path);
      await keepPicture(page, `${title}-${name.replace(' ', '-')}`);
      expect([title, await violationsOf(page)]).toEqual([title, []]);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect([title, overflow <= 0]).toEqual([title, true]);
    }
  });
});
