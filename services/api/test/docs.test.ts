import { describe, expect, it } from '@jest/globals';
import { useApi } from './support/api.ts';
import { problemOf } from './support/http.ts';

const bed = useApi();
const FILES = [
  'start.js',
  'page.css',
  'swagger-ui-bundle.js',
  'swagger-ui-bundle.js.LICENSE.txt',
  'swagger-ui.css',
];

const IDENTITY = { headers: { 'accept-encoding': 'identity' } };

const get = (path: string, init?: RequestInit) => fetch(bed.api.url + path, init);

describe('GET /docs', () => {
  it('is a page of the site, and loads files of this origin only', async () => {
    const html = await (await get('/docs')).text();
    expect(html).toContain('href="/docs" aria-current="page">API</a>');
    expect(html).toContain('href="/session">Sign in</a>');
    const urls = [...html.matchAll(/<(?:script|link)[^>]*\s(?:src|href)="([^"]*)"/g)].map(([, url]) => url!);
    expect(urls.filter((url) => url.startsWith('/docs/')).sort()).toEqual([
      '/docs/page.css',
      '/docs/start.js',
      '/docs/swagger-ui-bundle.js',
      '/docs/swagger-ui.css',
    ]);
    for (const url of urls) {
      expect(url).toMatch(/^\/(docs|assets)\//);
      expect((await get(url)).status).toBe(200);
    }
    expect(await (await get('/docs', { headers: { 'accept-language': 'de' } })).text()).toContain(
      'lang="de"',
    );
  });

  it('has the policy of the pages, with images in a style sheet, and no inline script of its own', async () => {
    const [page, home] = await Promise.all([get('/docs'), get('/', { headers: { accept: 'text/html' } })]);
    expect(page.headers.get('content-security-policy')).toBe(
      home.headers.get('content-security-policy')!.replace("img-src 'self'", "img-src 'self' data:"),
    );
    const html = await page.text();
    expect([...html.matchAll(/<script>/g)]).toHaveLength(1); // that of every page, which the policy names
    expect(html).not.toMatch(/\son\w+=|javascript:|\sstyle=/);
    for (const path of ['/docs/start.js', '/openapi.json', '/'])
      expect((await get(path)).headers.get('content-security-policy')).toContain('sandbox');
  });

  it('loads this document, and uses no validator', async () => {
    const script = await (await get('/docs/start.js')).text();
    expect(script).toContain("new URL('../openapi.json', document.currentScript.src)");
    expect(script).toContain('validatorUrl: null');
    expect(script).not.toMatch(/https?:/);
  });

  it('has a stylesheet that loads nothing', async () => {
    const css = await (await get('/docs/swagger-ui.css')).text();
    const urls = [...css.matchAll(/url\((.{0,6})/g)].map(([, url]) =>
      url!.replaceAll(/["']/g, '').slice(0, 5),
    );
    expect(new Set(urls)).toEqual(new Set(['data:']));
    expect(css).not.toContain('@import');
  });

  it('is named by GET /', async () => {
    expect(await (await get('/')).text()).toContain(`${bed.api.url}/docs`);
  });
});

it('names whom to tell of a vulnerability, where the operator has named somebody', async () => {
  expect((await get('/.well-known/security.txt')).status).toBe(404);
  const api = await bed.start({ house: { links: { abuse: 'abuse@example.org' } } });
  const response = await fetch(`${api.url}/.well-known/security.txt`);
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  const [, contact, expires] = /^Contact: (\S+)\nExpires: (\S+)\n$/.exec(await response.text())!;
  expect(contact).toBe('mailto:abuse@example.org');
  expect(Date.parse(expires!)).toBeGreaterThan(Date.now());
});

describe('GET /docs/:file', () => {
  it.each(FILES)('serves %s with its type once, and then revalidates it', async (name) => {
    const file = await get(`/docs/${name}`, IDENTITY);
    const etag = file.headers.get('etag')!;
    expect((await file.arrayBuffer()).byteLength).toBe(Number(file.headers.get('content-length')));
    expect(file.headers.get('content-type')).toMatch(/^text\/(javascript|css|plain); charset=utf-8$/);
    expect(file.headers.get('cache-control')).toBe('no-cache');
    const again = await get(`/docs/${name}`, { headers: { ...IDENTITY.headers, 'if-none-match': etag } });
    expect([again.status, await again.text()]).toEqual([304, '']);
    const head = await get(`/docs/${name}`, { ...IDENTITY, method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), head.headers.get('etag')]).toEqual([
      200,
      file.headers.get('content-length'),
      etag,
    ]);
  });

  it.each(['package.json', 'index.html', '..%2Fswagger-ui-dist%2Fpackage.json', '__proto__', 'toString'])(
    'answers 404 for %s',
    async (name) => {
      expect(await problemOf(await get(`/docs/${name}`))).toMatchObject({
        status: 404,
        code: 'route_not_found',
      });
    },
  );
});

describe('GET /v1/instance', () => {
  const instanceOf = async ({ url }: { readonly url: string }) => {
    const answer = await fetch(`${url}/v1/instance`);
    expect(answer.headers.get('cache-control')).toBe('public, max-age=60');
    return await answer.json();
  };

  it('says what holds where the operator has written nothing', async () => {
    expect(await instanceOf(bed.api)).toEqual({
      name: 'Pasteflow',
      logo_url: null,
      links: { imprint: null, privacy: null, terms: null, abuse: null },
      expiry: { default: 2_592_000, max: 31_536_000, never: true },
      anonymous: { allowed: true, max_expiry: null, max_bytes: null, burn_only: false },
      max_paste_bytes: 10_485_760,
      sign_in: ['token', 'invitation'],
    });
  });

  it('says what the operator has decided, as the document and the usage do', async () => {
    const links = { imprint: 'https://example.org/imprint', terms: 'https://example.org/terms' };
    const api = await bed.start({
      house: {
        name: 'Ablage',
        logo: 'logo.svg',
        links: { ...links, abuse: 'abuse@example.org' },
        expiry: { default: 'never' },
        anonymous: { max_expiry: 86_400, max_bytes: 65_536, burn_only: true },
      },
      logos: { 'logo.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>' },
      env: { PUBLIC_URL: 'https://paste.example.org/ablage' },
    });
    expect(await instanceOf(api)).toMatchObject({
      name: 'Ablage',
      logo_url: 'https://paste.example.org/ablage/logo',
      links: { ...links, privacy: null, abuse: 'abuse@example.org' },
      expiry: { default: null, max: 31_536_000, never: true },
      anonymous: { allowed: true, max_expiry: 86_400, max_bytes: 65_536, burn_only: true },
    });
    const { info } = (await (await fetch(`${api.url}/openapi.json`)).json()) as { info: object };
    expect(info).toMatchObject({
      title: 'Ablage',
      contact: { email: 'abuse@example.org' },
      termsOfService: links.terms,
    });
    const usage = await (await fetch(api.url)).text();
    expect(usage).toContain('7d, or never (default: never).\nWithout a token content has 1 to 65536 bytes');
    expect(usage).toContain('60 to 86400 seconds, a time such as 10m, 12h or 7d (default: 1 day)');
  });

  it('says whether a paste needs a token', async () => {
    const api = await bed.start({ env: { ANONYMOUS_PASTES: 'deny' } });
    expect(await instanceOf(api)).toMatchObject({ anonymous: { allowed: false } });
    expect(await (await fetch(api.url)).text()).toContain('Pastes need a token.\n');
  });
});
