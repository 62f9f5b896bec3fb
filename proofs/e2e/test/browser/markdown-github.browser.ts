import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startCluster } from '../../src/index.ts';
import { isBrowserWanted, useBrowser, violationsOf } from './browser.ts';
import { storePaste } from './store-paste.ts';

const describeInBrowser = isBrowserWanted() ? describe : describe.skip;

const bed = useBrowser({ start: () => startCluster(), originOf: (cluster) => cluster.http().url });

async function rendered(text: string, hash = '', locale = 'en'): Promise<Page> {
  const code = await storePaste(bed.cluster, text, { title: 'README.md' });
  const page = await bed.open(`/${code}${hash}`, { locale });
  await page.locator('article.rendered').waitFor();
  return page;
}

const isInView = (page: Page, name: string) =>
  page.waitForFunction((text) => {
    const heading = [...document.querySelectorAll('article h2')].find((each) => each.textContent === text);
    const { top = -1 } = heading?.getBoundingClientRect() ?? {};
    return top > 0 && top < innerHeight;
  }, name);

const filler = 'line\n\n'.repeat(300);

describeInBrowser('a rendered text, as on GitHub,', () => {
  it('has links to its headings, which stay in the rendered text and can be given to others', async () => {
    const page = await rendered(
      `[down](#the-end) [top](#TOP) [none](#main)\n\n# Top\n\n${filler}# The end\n`,
    );
    await page.getByRole('link', { name: 'down', exact: true }).click();
    await isInView(page, 'The end');
    expect(new URL(page.url()).hash).toBe('#user-content-the-end');
    expect(await page.locator('#content').isVisible()).toBe(false);
    await page.getByRole('link', { name: 'top', exact: true }).click();
    await isInView(page, 'Top');
    expect(await page.getByText('none', { exact: true }).getAttribute('href')).toBeNull();
    for (const hash of ['#the-end', '#user-content-the-end'])
      await isInView(await rendered(`# Top\n\n${filler}# The end\n`, hash), 'The end');
  });

  it('names no element as the page does', async () => {
    const page = await rendered(
      '# Main\n\n# content\n\n<a id="copy" name="views"></a><a name=paste-status>a</a>\n\n[a](#main)\n\n[^main]: x\n',
    );
    const ids = await page.evaluate(() => [...document.querySelectorAll('article [id]')].map(({ id }) => id));
    expect(ids.length).toBeGreaterThan(2);
    expect(ids.filter((id) => !id.startsWith('user-content-'))).toEqual([]);
    expect(await page.locator('article [name]').count()).toBe(0);
    const all = await page.evaluate(() => [...document.querySelectorAll('[id]')].map(({ id }) => id));
    expect(new Set(all).size).toBe(all.length);
  });

  it('shows raw links and images as those of Markdown, front matter as code, alerts and footnotes', async () => {
    const page = await rendered(`---
title: x
---

<p align="center">
  <a href="https://d.example"><picture>
    <source srcset="https://b.example/dark.png">
    <img src="https://b.example/a.png" alt="logo" onerror="alert(1)">
  </picture></a>
</p>

<img src="https://b.example/c.png" alt="cat">

> [!WARNING]
> Mind the gap.

A note[^1].

[^1]: The *note*.
`);
    const article = page.locator('article');
    expect(await article.innerHTML()).not.toMatch(/&lt;|<(img|picture|source)/);
    expect(await page.getByRole('link', { name: 'Image: logo' }).getAttribute('href')).toBe(
      'https://d.example',
    );
    expect(await page.getByRole('link', { name: 'Image: cat' }).getAttribute('href')).toBe(
      'https://b.example/c.png',
    );
    expect(await article.locator('pre code').first().innerText()).toBe('title: x\n');
    expect(await article.locator('blockquote').innerText()).toMatch(/^Warning\s+Mind the gap\.$/);
    await page.getByRole('link', { name: '1', exact: true }).click();
    expect(await page.locator(':target').innerText()).toContain('The note.');
    expect(await violationsOf(page)).toEqual([]);
  });

  it('says that it could not be loaded, and not that it is too complex, when its worker is missing', async () => {
    const code = await storePaste(bed.cluster, '# Head\n', { title: 'README.md' });
    const page = await bed.open('/missing123');
    await page.route('**/assets/markdown-worker-*', (route) => route.abort());
    await page.goto(`${bed.cluster.http().url}/${code}`);
    await page.getByText('The text could not be rendered. Reload the page').waitFor();
    expect(await page.locator('#content').innerText()).toContain('# Head');
  });

  it.each(['en', 'ar'])('keeps each block in its own direction on a page in %s', async (locale) => {
    const text = '# Hello, world!\n\n- one.\n\nمرحبا, world!\n\n> 1. واحد\n\n```\na = b;\n```\n';
    const page = await rendered(text, '', locale);
    const directions = await page.evaluate(() =>
      ['h2', 'ul', 'ul li', 'p', 'blockquote', 'ol', 'ol li', 'pre'].map(
        (each) => getComputedStyle(document.querySelector(`article ${each}`)!).direction,
      ),
    );
    expect(directions).toEqual(['ltr', 'ltr', 'ltr', 'rtl', 'rtl', 'rtl', 'rtl', 'ltr']);
  });

  it('stays in order on a page in Arabic, also where it begins with an image or a raw element', async () => {
    const page = await rendered(
      '<h1>One</h1>\n\n<div>Two</div>\n\n![Three](https://a.example/b.png) three\n\n- ![Four](https://a.example/b.png)\n',
      '',
      'ar',
    );
    const directions = await page
      .locator('article')
      .locator('h2, div, p, ul')
      .evaluateAll((all) => all.map((each) => getComputedStyle(each).direction));
    expect(directions).toEqual(['ltr', 'ltr', 'ltr', 'ltr']);
  });
});

describeInBrowser('a link or an image of a Markdown paste', () => {
  it('leads elsewhere and loads nothing', async () => {
    const markups = {
      '[a](https://b.example)': '<a href="https://b.example" rel="noopener noreferrer nofollow ugc">a</a>',
      '<mailto:a@b.example>':
        '<a href="mailto:a@b.example" rel="noopener noreferrer nofollow ugc">mailto:a@b.example</a>',
      '![cat](https://b.example/c.png)':
        '<a href="https://b.example/c.png" rel="noopener noreferrer nofollow ugc"><bdi>Image:</bdi> cat</a>',
      '<img src="https://b.example/d.png">':
        '<a href="https://b.example/d.png" rel="noopener noreferrer nofollow ugc"><bdi>Image:</bdi> https://b.example/d.png</a>',
      '[![badge](https://b.example/c.svg)](https://d.example)':
        '<a href="https://d.example" rel="noopener noreferrer nofollow ugc"><bdi>Image:</bdi> badge</a>',
      '![dot](data:image/gif;base64,R0lGODlhAQABAAAAACw=)': '<bdi>Image:</bdi> dot',
    };
    const page = await rendered(Object.keys(markups).join('\n\n'));
    const markup = await page.locator('article').innerHTML();
    for (const each of Object.values(markups)) expect(markup).toContain(each);
    expect(await page.locator('article a').count()).toBe(5);
  });

  it('is text when it would lead to a script or into this service', async () => {
    const texts = [
      '[a](javascript:alert(1))',
      '[b](JaVaScRiPt&colon;alert(1))',
      '[c](java&#10;script:alert(1))',
      '<a href="&#x1;javascript:alert(1)">d</a>',
      '[e](data:text/html,<script>alert(1)</script>)',
      '[f](vbscript:x)',
      '[g](//b.example)',
      '[h](/session/end)',
      '[i](#main)',
      '[j](blob:https://b.example/x)',
      '<a xlink:href="https://b.example">k</a>',
      '<a ping="https://b.example" download formaction=x>l</a>',
    ];
    const page = await rendered(texts.join('\n\n'));
    expect(await page.locator('article a[href]').allInnerTexts()).toEqual([]);
    const shown = await page.locator('article p').allInnerTexts();
    expect(shown.map((text) => text[0]).join('')).toBe('abcdefghijkl');
  });
});
