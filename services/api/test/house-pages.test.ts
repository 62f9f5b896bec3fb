import { describe, expect, it } from '@jest/globals';
import { wordsIn } from '@pasteflow/web';
import { useApi } from './support/api.ts';
import { newPaste, processedPaste } from './support/pastes.ts';
import { rawGet } from './support/raw-get.ts';
import { BROWSER } from './support/sign-in.ts';

const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 80 20"><rect width="80" height="20"/></svg>';
const PNG = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const NAME = 'Paste & <Co>';
const links = {
  imprint: 'https://example.org/imprint',
  privacy: 'https://example.org/privacy?a=1&b=2',
  terms: 'https://example.org/terms',
  abuse: 'abuse@example.org',
};

const bed = useApi({ house: { name: NAME, logo: 'logo.svg', links }, logos: { 'logo.svg': SVG } });

const show = async (path: string, language = 'en', { url } = bed.api) =>
  await (await fetch(url + path, { headers: { ...BROWSER, 'accept-language': language } })).text();

describe('who runs the service', () => {
  it('stands on every page, also on one of an error: name, logo and links', async () => {
    const pending = await newPaste(bed.db);
    const paste = await processedPaste(bed, 'text');
    for (const path of [
      '/',
      `/${paste}`,
      `/${pending}`,
      `/${paste}/report`,
      '/docs',
      '/session',
      '/missing123',
      '/x/y/z',
    ]) {
      const markup = await show(path);
      expect(markup).toMatch(/<title>[^<]* – Paste &amp; &lt;Co&gt;<\/title>/);
      expect(markup).toContain(
        '<a class="brand" href="/" aria-label="Paste &amp; &lt;Co&gt;"><img src="/logo" height="24" alt=""><span>Paste &amp; &lt;Co&gt;</span></a>',
      );
      expect(markup).toContain('<link rel="icon" href="/logo" type="image/svg+xml">');
      const [, foot] = markup.split('<footer');
      for (const url of ['/imprint', '/privacy?a=1&amp;b=2', '/terms'])
        expect(foot).toContain(`<p><a href="https://example.org${url}">`);
      expect(foot).toContain('<a href="mailto:abuse@example.org">Report abuse</a>');
      expect(markup).not.toContain('Pasteflow');
    }
  });

  it.each(['en', 'de', 'fr', 'es', 'ja', 'ar'])('is named in the words of %s', async (language) => {
    const { intro, houseLinks } = wordsIn(language);
    const markup = await show('/', language);
    expect(markup).toContain(intro('Paste &amp; &lt;Co&gt;'));
    for (const name of Object.values(houseLinks)) expect(markup).toContain(`">${name}</a></p>`);
  });

  it('is what other sites, shells and the lists of apps show', async () => {
    const paste = await processedPaste(bed, 'text');
    const markup = await show(`/${paste}`);
    expect(markup).toContain('<meta property="og:site_name" content="Paste &amp; &lt;Co&gt;">');
    expect(await (await fetch(bed.api.url)).text()).toMatch(/^Paste & <Co> stores text/);
    const app = await fetch(bed.api.url + /"manifest" href="([^"]+)"/.exec(markup)![1]!);
    expect(app.headers.get('content-type')).toMatch(/^application\/manifest\+json/);
    expect(await app.json()).toMatchObject({
      name: NAME,
      start_url: '../',
      icons: [{ src: '../logo', sizes: 'any', type: 'image/svg+xml' }],
    });
  });

  it('makes another page of the same paste, which a browser loads anew', async () => {
    const paste = await processedPaste(bed, 'text');
    const started = (name: string) =>
      bed.start({ house: { name }, env: { PUBLIC_URL: 'http://paste.example.org' } });
    const asked = { ...BROWSER, host: 'paste.example.org' };
    const before = await rawGet(`${(await started('One')).url}/${paste}`, asked);
    const known = { ...asked, 'if-none-match': before.headers.etag! };
    const statusIn = async (name: string) =>
      (await rawGet(`${(await started(name)).url}/${paste}`, known)).status;
    expect([await statusIn('One'), await statusIn('Another')]).toEqual([304, 200]);
  });

  it('is Pasteflow, with its own icon and without links, where nothing is said', async () => {
    const plain = await bed.start();
    const markup = await show('/', 'en', plain);
    expect(markup).toContain('<span>Pasteflow</span>');
    expect(markup).toMatch(/<img src="\/assets\/icon-\w+\.svg" width="24" height="24" alt="">/);
    expect(markup).not.toMatch(/Imprint|Privacy<|Terms<|Report abuse/);
    expect((await fetch(`${plain.url}/logo`)).status).toBe(404);
  });
});

describe('GET /logo', () => {
  it('serves the image, which can run and load nothing, and then says that it is the same one', async () => {
    const { status, headers, body } = await rawGet(`${bed.api.url}/logo`, {});
    expect([status, body.toString()]).toEqual([200, SVG]);
    expect(headers).toMatchObject({
      'content-type': 'image/svg+xml',
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, max-age=3600',
      'content-security-policy': expect.stringMatching(/^default-src 'none'; .*; sandbox;/),
    });
    const again = await fetch(`${bed.api.url}/logo`, { headers: { 'if-none-match': headers.etag! } });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });

  it('serves a PNG, which is also the icon of a home screen', async () => {
    const api = await bed.start({ house: { logo: 'a.png' }, logos: { 'a.png': PNG } });
    const response = await fetch(`${api.url}/logo`);
    expect(response.headers.get('content-type')).toBe('image/png');
    expect(Buffer.from(await response.arrayBuffer())).toEqual(PNG);
    expect(await show('/', 'en', api)).toContain('<link rel="apple-touch-icon" href="/logo">');
  });
});
