import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { useApi } from './support/api.ts';
import { postRaw, problemOf } from './support/http.ts';
import { deletedPaste, failedPaste, newPaste, processedPaste } from './support/pastes.ts';
import { rawGet } from './support/raw-get.ts';

const bed = useApi({ house: { links: { abuse: 'https://abuse.example.org/report' } } });
const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
const hostile = `<script>alert("x")</script>&amp;\n<img src=x onerror=alert(1)>\n`;

const browse = (
  path: string,
  init: { method?: string; body?: FormData; headers?: Record<string, string> } = {},
) => fetch(bed.api.url + path, { ...init, headers: { ...BROWSER, ...init.headers } });

async function deletedCode(): Promise<string> {
  const code = await processedPaste(bed, 'deleted');
  await deletedPaste(bed.db, code);
  return code;
}

let shortCode = '';
beforeAll(async () => {
  shortCode = await processedPaste(bed, hostile);
});

describe('an address that has a page', () => {
  it('answers a browser with the page and everybody else with the bytes', async () => {
    const page = await browse(`/${shortCode}`);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(await page.text()).toContain(
      '&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&amp;amp;\n</div><div id=L2 data-n=2>&lt;img',
    );

    const raw = await fetch(`${bed.api.url}/${shortCode}`);
    expect(raw.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(await raw.text()).toBe(hostile);
    expect(raw.headers.get('etag')).not.toBe(page.headers.get('etag'));
  });

  it('says in every answer that the answer depends on Accept', async () => {
    const inProgress = await newPaste(bed.db);
    const failed = await failedPaste(bed.db);
    const deleted = await deletedCode();
    const codes = [shortCode, inProgress, failed, deleted, 'missing123', `${shortCode}/timeline`];
    for (const path of ['/', ...codes.map((code) => `/${code}`)]) {
      for (const accept of [BROWSER.accept, '*/*', 'text/html;q=2', '']) {
        const response = await fetch(bed.api.url + path, { headers: { accept } });
        expect([path, accept, response.status, response.headers.get('vary')]).toEqual([
          path,
          accept,
          response.status,
          expect.stringMatching(/^Accept, Accept-Language, Cookie(, Accept-Encoding)?$/),
        ]);
      }
    }
    const { headers } = await browse(`/${shortCode}`);
    const unchanged = await browse(`/${shortCode}`, { headers: { 'if-none-match': headers.get('etag')! } });
    expect(unchanged.status).toBe(304);
    expect(unchanged.headers.get('vary')).toBe('Accept, Accept-Language, Cookie, Accept-Encoding');
  });

  it.each([
    ['of 8 KiB', 'text/html'.padEnd(8192, ';q')],
    ['with bytes that are no ASCII', 'text/html\u00ff\u0080, */*'],
    ['with a quality of letters', 'text/html;q=abc'],
    ['with a quality of 0', 'text/html;q=0, */*'],
    ['that prefers plain text', 'text/html;q=0.1, text/plain'],
    ['of separators', ',;=,;q=;,'],
  ])('answers an Accept with the bytes when it asks for no page: %s', async (_name, accept) => {
    const { status, headers, body } = await rawGet(`${bed.api.url}/${shortCode}`, { accept });
    expect([status, headers['content-type'], body.toString()]).toEqual([
      200,
      'text/plain; charset=utf-8',
      hostile,
    ]);
    expect(headers.vary).toBe('Accept, Accept-Language, Cookie, Accept-Encoding');
  });

  it('refuses headers that are larger than any browser sends', async () => {
    const { status } = await rawGet(`${bed.api.url}/${shortCode}`, { accept: 'x'.repeat(20_000) });
    expect(status).toBe(431);
  });

  it('gives a cache that knows the bytes no 304 for the page', async () => {
    const raw = await fetch(`${bed.api.url}/${shortCode}`);
    const page = await browse(`/${shortCode}`, { headers: { 'if-none-match': raw.headers.get('etag')! } });
    expect(page.status).toBe(200);
  });

  it('ignores Range on a page, and answers HEAD without a body', async () => {
    expect((await browse(`/${shortCode}`, { headers: { range: 'bytes=0-4' } })).status).toBe(200);
    const head = await browse(`/${shortCode}`, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  });

  it('allows the style sheet and the script inside of a page by their hashes, and no other', async () => {
    const page = await browse(`/${shortCode}`);
    const markup = await page.text();
    const [, script, styles] = /<script>([^]*?)<\/script>[^]*<style>([^]*?)<\/style>/.exec(markup)!;
    const hashed = (text: string) => `'self' 'sha256-${createHash('sha256').update(text).digest('base64')}';`;
    for (const source of [`script-src ${hashed(script!)}`, `style-src ${hashed(styles!)}`])
      expect(page.headers.get('content-security-policy')).toContain(`; ${source} `);
    const asset = await browse(`/assets/${/worker-\w+\.js/.exec(markup)![0]}`);
    expect(asset.headers.get('content-security-policy')).toContain("; style-src 'self'; ");
  });

  it('lets a page load from its own origin only, and keeps the sandbox of the bytes', async () => {
    for (const path of ['/', `/${shortCode}`, `/${shortCode}/timeline`, '/missing123']) {
      const policy = (await browse(path)).headers.get('content-security-policy');
      expect(policy).toMatch(/^default-src 'none'; script-src 'self' 'sha256-[\w+/=]+';/);
      expect(policy).not.toMatch(/unsafe|data:|https:/);
    }
    const raw = await fetch(`${bed.api.url}/${shortCode}`);
    expect(raw.headers.get('content-security-policy')).toContain('sandbox');
  });
});

describe('the page of a paste', () => {
  it('is written as the bytes arrive, also when they are many', async () => {
    const code = await processedPaste(bed, 'a line of text\n'.repeat(40_000));
    const markup = await (await browse(`/${code}`)).text();
    expect(markup.split('a line of text').length).toBe(40_001);
    expect(markup.endsWith('</html>\n')).toBe(true);
  });

  it('takes its language from the extension of the address', async () => {
    expect(await (await browse(`/${shortCode}.rs`)).text()).toContain('data-language="rust"');
    expect(await (await fetch(`${bed.api.url}/${shortCode}.rs`)).text()).toBe(hostile);
  });

  it('escapes the title everywhere, and isolates its direction', async () => {
    const title = '"><script>alert(1)</script>\u202e';
    const created = await postRaw(bed.api.url, 'x', `?title=${encodeURIComponent(title)}`);
    const { short_code } = (await created.json()) as { short_code: string };
    for (const path of [`/${short_code}`, `/${short_code}/timeline`]) {
      const markup = await (await browse(path)).text();
      expect(markup).not.toContain('<script>alert');
      expect(markup).toContain('<bdi>&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;\u202e</bdi>');
    }
  });

  it('shows an upload in progress with a refresh for browsers without JavaScript', async () => {
    const page = await browse(`/${await newPaste(bed.db)}`);
    expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(await page.text()).toContain('<noscript><meta http-equiv="refresh" content="2"></noscript>');
  });

  it.each([
    ['failed', () => failedPaste(bed.db), 404, '<h1>The upload of this paste failed</h1>'],
    ['deleted', deletedCode, 410, 'expired or was deleted'],
  ] as const)('says that a paste has %s, with the status of the API', async (_name, make, status, text) => {
    const page = await browse(`/${await make()}`);
    expect([page.status, page.headers.get('content-type')]).toEqual([status, 'text/html; charset=utf-8']);
    expect(await page.text()).toContain(text);
  });

  it('says that a code or a path is unknown', async () => {
    expect(await (await browse('/missing123')).text()).toContain('There is no paste at this address');
    expect(await (await browse('/no/such/path')).text()).toContain('There is no page at this address');
    expect((await problemOf(await fetch(`${bed.api.url}/no/such/path`))).code).toBe('route_not_found');
  });

  it('shows where to report abuse', async () => {
    expect(await (await browse(`/${shortCode}`)).text()).toContain('href="https://abuse.example.org/report"');
  });
});

/** A form as a browser without JavaScript sends it. */
function formOf(fields: Readonly<Record<string, string | Blob>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string') form.set(name, value);
    else form.set(name, value, value.size === 0 ? '' : 'notes.txt');
  }
  return form;
}
const emptyFile = new Blob([]);

async function createdIn(response: Response) {
  expect([response.status, response.headers.get('content-type')]).toEqual([201, 'text/html; charset=utf-8']);
  const markup = await response.text();
  const [, url = ''] = /id="url" value="([^"]+)"/.exec(markup) ?? [];
  const [, token = ''] = /id="delete-token" value="([^"]+)"/.exec(markup) ?? [];
  return { shortCode: url.split('/').at(-1)!, url, token, location: response.headers.get('location') };
}

async function payloadOf(code: string): Promise<string> {
  const { content } = await bed.db
    .selectFrom('paste_payloads')
    .innerJoin('pastes', 'pastes.id', 'paste_payloads.paste_id')
    .where('short_code', '=', code)
    .select('content')
    .executeTakeFirstOrThrow();
  return content.toString();
}

describe('the form without JavaScript', () => {
  const options = { title: '', syntax: '', expires_in: '3600' };

  it('creates a paste of its text, with the newlines that were typed', async () => {
    const form = formOf({ ...options, text: 'a\r\nb\r\n', content: emptyFile });
    const {
      shortCode: code,
      url,
      location,
      token,
    } = await createdIn(await browse('/', { method: 'POST', body: form }));
    expect(url).toBe(location);
    expect(await payloadOf(code)).toBe('a\nb\n');
    expect(location).not.toContain(token);
  });

  it('creates a paste of its file, byte for byte', async () => {
    const form = formOf({ ...options, text: '', content: new Blob(['a\r\nb']) });
    const { shortCode: code } = await createdIn(await browse('/', { method: 'POST', body: form }));
    expect(await payloadOf(code)).toBe('a\r\nb');
  });

  it('leaves a file named text as it is, since only a field is typed', async () => {
    const body = new FormData();
    body.set('text', new Blob(['a\r\nb']), 'notes.txt');
    const created = await fetch(bed.api.url, { method: 'POST', body });
    expect(await payloadOf((await created.text()).trim().split('/').at(-1)!)).toBe('a\r\nb');
  });

  it.each([
    [
      'neither text nor file',
      { ...options, text: '', content: emptyFile },
      422,
      'Send at least one byte of content',
    ],
    ['both', { ...options, text: 'x', content: new Blob(['y']) }, 422, 'had a text and a file'],
    [
      'a wrong expiry',
      { ...options, text: 'x', expires_in: 'soon' },
      422,
      'Expires after</strong> <span lang="en" dir="ltr">must be',
    ],
  ] as const)('shows what to correct: %s', async (_name, fields, status, text) => {
    const page = await browse('/', { method: 'POST', body: formOf(fields) });
    expect([page.status, page.headers.get('content-type')]).toEqual([status, 'text/html; charset=utf-8']);
    expect(await page.text()).toContain(text);
  });

  it('deletes a paste with its token, and only with its token', async () => {
    const { shortCode: code, token } = await createdIn(
      await browse('/', { method: 'POST', body: formOf({ ...options, text: 'x', content: emptyFile }) }),
    );
    const remove = (value: string) =>
      browse(`/${code}/delete`, { method: 'POST', body: formOf({ delete_token: value }) });
    const refused = await remove('wrong');
    expect([refused.status, await refused.text()]).toEqual([401, expect.stringContaining(`href="/${code}"`)]);
    expect((await browse(`/${code}`)).status).toBe(200);
    expect(await (await remove(token)).text()).toContain('Paste deleted');
    expect((await browse(`/${code}`)).status).toBe(410);
    expect((await remove(token)).status).toBe(410);
  });
});

describe('the timeline', () => {
  it('is a page in a browser and JSON for everybody else', async () => {
    const page = await browse(`/${shortCode}/timeline`);
    expect(await page.text()).toMatch(/<svg class="timeline"[\s\S]*<table>/);
    const json = await fetch(`${bed.api.url}/${shortCode}/timeline`);
    expect(await json.json()).toHaveProperty('transitions');
  });
});

describe('the files of the pages', () => {
  it('are cached for ever, compressed as the browser accepts', async () => {
    const [, path = ''] = /href="([^"]+all-[^"]+\.css)"/.exec(await (await browse('/')).text()) ?? [];
    const brotli = await fetch(bed.api.url + path, { headers: { 'accept-encoding': 'gzip, br' } });
    expect(brotli.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect([brotli.headers.get('content-encoding'), brotli.headers.get('vary')]).toEqual([
      'br',
      'Accept-Encoding',
    ]);
    // A worker has the policy of its own file, and loads the mode of its language.
    expect(brotli.headers.get('content-security-policy')).toContain("script-src 'self'");
    const plain = await fetch(bed.api.url + path, { headers: { 'accept-encoding': 'identity' } });
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(await plain.text()).toBe(await brotli.text());
  });

  it('are not found under other names', async () => {
    for (const name of ['page.css', '..%2fmanifest.json', 'manifest.json'])
      expect((await fetch(`${bed.api.url}/assets/${name}`)).status).toBe(404);
  });
});
