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

const get = (path: string, init?: RequestInit) => fetch(bed.api.url + path, init);

/** Every URL in the page, resolved as a browser at `base` would. */
async function urlsIn(path: string, base: string): Promise<readonly string[]> {
  const html = await (await get(path)).text();
  return [...html.matchAll(/\s(?:src|href)="([^"]*)"/g)].map(([, url]) => new URL(url!, base).href);
}

describe('GET /docs', () => {
  it.each(['/docs', '/docs/'])('at %s loads files of this origin only', async (path) => {
    const [icon, ...urls] = await urlsIn(path, bed.api.url + path);
    expect(icon).toBe('data:,'); // otherwise a browser requests /favicon.ico
    expect(urls).toHaveLength(4);
    for (const url of urls) {
      expect(url.startsWith(`${bed.api.url}/docs/`)).toBe(true);
      expect((await fetch(url)).status).toBe(200);
    }
  });

  it('loads its files also behind a prefix', async () => {
    const [, ...urls] = await urlsIn('/docs', 'https://a.example/p/docs');
    expect(urls.every((url) => url.startsWith('https://a.example/p/docs/'))).toBe(true);
  });

  it('has a policy that forbids other origins and inline scripts', async () => {
    const policy = (await get('/docs')).headers.get('content-security-policy')!;
    const directives = new Map(
      policy.split('; ').map((each) => [each.split(' ')[0], each.split(' ').slice(1).join(' ')]),
    );
    expect(Object.fromEntries(directives)).toEqual({
      'default-src': "'none'",
      'script-src': "'self'",
      'style-src': "'self'",
      'img-src': "'self' data:",
      'connect-src': "'self'",
      'base-uri': "'none'",
      'form-action': "'none'",
      'frame-ancestors': "'none'",
    });
  });

  it('has no inline scripts, and the policy of all other answers is unchanged', async () => {
    const page = await get('/docs');
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const html = await page.text();
    expect([...html.matchAll(/<script src="[^"]+"><\/script>/g)]).toHaveLength(2);
    expect([...html.matchAll(/<script/g)]).toHaveLength(2);
    expect(html).not.toMatch(/\son\w+=|javascript:|\sstyle=/);
    for (const path of ['/docs/start.js', '/openapi.json', '/']) {
      expect((await get(path)).headers.get('content-security-policy')).toContain('sandbox');
    }
  });

  it('loads this document, and uses no validator', async () => {
    const script = await (await get('/docs/start.js')).text();
    expect(script).toContain("new URL('../openapi.json', document.currentScript.src)");
    expect(script).toContain('validatorUrl: null');
    expect(script).not.toMatch(/https?:|\/\//);
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

describe('GET /docs/:file', () => {
  it.each(FILES)('serves %s with its type once, and then revalidates it', async (name) => {
    const file = await get(`/docs/${name}`);
    const etag = file.headers.get('etag')!;
    expect((await file.arrayBuffer()).byteLength).toBe(Number(file.headers.get('content-length')));
    expect(file.headers.get('content-type')).toMatch(/^text\/(javascript|css|plain); charset=utf-8$/);
    expect(file.headers.get('cache-control')).toBe('no-cache');
    const again = await get(`/docs/${name}`, { headers: { 'if-none-match': etag } });
    expect([again.status, await again.text()]).toEqual([304, '']);
    const head = await get(`/docs/${name}`, { method: 'HEAD' });
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
