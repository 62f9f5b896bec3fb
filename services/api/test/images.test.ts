import { beforeAll, describe, expect, it } from '@jest/globals';
import { FaultProxy } from '@pasteflow/dev-stack/testing';
import { useApi } from './support/api.ts';
import { newPaste, processedPaste } from './support/pastes.ts';
import { newUser, type TestUser } from './support/users.ts';

const bed = useApi();
const BROWSER = { accept: 'text/html,*/*;q=0.8' };
const rest = Buffer.from('…and more\0bytes');
const beginning = (text: string): Buffer => Buffer.concat([Buffer.from(text, 'latin1'), rest]);

const pageOf = async (code: string, headers: Record<string, string> = {}): Promise<string> =>
  await (await fetch(`${bed.api.url}/${code}`, { headers: { ...BROWSER, ...headers } })).text();

let owner: TestUser;
beforeAll(async () => {
  owner = await newUser(bed.db);
});

describe('a paste that is an image', () => {
  it.each([
    ['image/png', beginning('\x89PNG\r\n\x1a\n')],
    ['image/jpeg', beginning('\xff\xd8\xff\xe0')],
    ['image/gif', beginning('GIF89a')],
    ['image/webp', beginning('RIFF\0\0\0\0WEBPVP8 ')],
    ['image/avif', beginning('\0\0\0\x1cftypavif')],
    ['image/png', Buffer.concat([beginning('\x89PNG\r\n\x1a\n'), Buffer.alloc(700_000, 7)])],
  ])('of %s is shown by its page, from a route with its type and a sandbox', async (type, content) => {
    const code = await processedPaste(bed, content);
    const markup = await pageOf(code);
    expect(markup).toContain(`<img src="/${code}/image"`);
    expect(markup).not.toContain('\ufffd');
    expect(markup.endsWith('</html>\n')).toBe(true);
    const image = await fetch(`${bed.api.url}/${code}/image`);
    expect(Object.fromEntries(image.headers)).toMatchObject({
      'content-type': type,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
      'cross-origin-resource-policy': 'same-origin',
    });
    expect(Buffer.from(await image.arrayBuffer()).equals(content)).toBe(true);
    const again = await fetch(image.url, { headers: { 'if-none-match': image.headers.get('etag')! } });
    expect(again.status).toBe(304);
  });

  it('has its type for HEAD, too, which reads no more than its beginning', async () => {
    const content = Buffer.concat([beginning('\x89PNG\r\n\x1a\n'), Buffer.alloc(700_000, 7)]);
    const code = await processedPaste(bed, content);
    const proxy = await FaultProxy.start(bed.stack.aws.endpoint);
    const api = await bed.start({ env: { AWS_ENDPOINT_URL_S3: proxy.url } });
    const head = await fetch(`${api.url}/${code}/image`, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'image/png']);
    const [request] = proxy.matching({ method: 'GET', path: new RegExp(code) });
    expect(request?.headers['range']).toBe('bytes=0-4095');
    await api.stop();
    await proxy.stop();
  });

  it.each([
    ['an SVG', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'],
    ['markup', '<script>alert(1)</script>'],
    ['markup behind a title', 'GIF87 <script>alert(1)</script>'],
  ])('is never %s', async (_name, text) => {
    const code = await processedPaste(bed, text);
    expect(await pageOf(code)).not.toContain(`src="/${code}`);
    const image = await fetch(`${bed.api.url}/${code}/image`);
    expect(image.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(await image.text()).toBe(text);
  });

  it('is read by those who may read the paste, and by no one else', async () => {
    const content = beginning('\x89PNG\r\n\x1a\n');
    const code = await processedPaste(bed, content, { userId: owner.id, visibility: 'private' });
    expect((await fetch(`${bed.api.url}/${code}/image`)).status).toBe(404);
    const own = await fetch(`${bed.api.url}/${code}/image`, {
      headers: { authorization: `Bearer ${owner.token}` },
    });
    expect([own.status, own.headers.get('cache-control')]).toEqual([200, 'no-store, no-transform']);
    const burn = await processedPaste(bed, content, { burn: true });
    expect((await fetch(`${bed.api.url}/${burn}/image`)).status).toBe(403);
    expect((await fetch(`${bed.api.url}/missing123/image`)).status).toBe(404);
  });
});

describe('a paste that is no text', () => {
  it('is a card with its size and a download, and nothing of its bytes', async () => {
    const code = await processedPaste(
      bed,
      Buffer.concat([Buffer.from('ELF'), Buffer.alloc(33_789, 1), rest]),
    );
    const markup = await pageOf(code);
    expect(markup).toContain('<strong>Binary file</strong> · 33 KiB');
    expect(markup).toContain(`href="/v1/pastes/${code}/content" download=`);
    expect(markup).not.toContain('ELF');
  });

  it('can be looked at as text, with the language that the reader chooses', async () => {
    const code = await processedPaste(bed, 'before\0after');
    expect(await pageOf(code)).toContain(`href="/${code}?view=text"`);
    const shown = await pageOf(`${code}?view=text`);
    expect(shown).toContain('before\ufffdafter');
    expect(shown).toContain('are not UTF-8');
    expect(shown).toContain('<input type="hidden" name="view" value="text">');
    expect(await pageOf(`${await processedPaste(bed, beginning('GIF89a'))}?view=text`)).toContain('/image"');
  });

  it.each(['utf-16le', 'utf-16be'])(
    'is text when it begins with the mark of %s, also in a new paste',
    async (encoding) => {
      const text = `Grüße 😀\r\n${'x'.repeat(5000)}\n`;
      const content = Buffer.from(`\ufeff${text}`, 'utf16le');
      if (encoding === 'utf-16be') content.swap16();
      const code = await processedPaste(bed, content);
      const markup = await pageOf(code);
      expect(markup).toContain('<div id=L1 data-n=1>Grüße 😀\n</div>');
      expect(markup).not.toContain('are not UTF-8');
      expect(await pageOf(`${code}/new`)).toContain('\nGrüße 😀');
      const same = await processedPaste(bed, text, { parent: code });
      expect(await pageOf(`${same}/diff`)).toContain('The texts are equal.');
    },
  );

  it('is still text when it only has bytes that are not UTF-8', async () => {
    const markup = await pageOf(await processedPaste(bed, Buffer.from('caf\xe9', 'latin1')));
    expect(markup).toContain('caf\ufffd');
    expect(markup).toContain('are not UTF-8');
  });
});

describe('what other sites show of a link', () => {
  const named = (markup: string): readonly string[] =>
    [...markup.matchAll(/<meta property="og:(\w+)"/g)].map(([, name]) => name!);

  it('is the title of a paste that anyone with the link can read, and its image', async () => {
    expect(named(await pageOf(await processedPaste(bed, 'x')))).toEqual([
      'site_name',
      'type',
      'title',
      'description',
      'url',
    ]);
    expect(named(await pageOf(await processedPaste(bed, beginning('GIF89a'))))).toContain('image');
  });

  it.each([
    ['#!/bin/sh\n', 3600, 'Shell, 10 bytes, expires in 1 hour'],
    ['x'.repeat(3000), 30 * 86_400, 'Plain text, 2.9 KiB, expires in 30 days'],
    [beginning('GIF89a'), null, 'GIF image, 23 bytes, never expires'],
  ])('describes the paste: its language or format, its size and its end', async (content, seconds, text) => {
    const code = await processedPaste(bed, content);
    const expires_at = seconds === null ? null : new Date(Date.now() + seconds * 1000);
    await bed.db.updateTable('pastes').set({ expires_at }).where('short_code', '=', code).execute();
    expect(/og:description" content="([^"]*)"/.exec(await pageOf(code))?.[1]).toBe(text);
  });

  it.each([
    ['private', async () => await processedPaste(bed, 'x', { userId: owner.id, visibility: 'private' })],
    ['read once', async () => await processedPaste(bed, 'x', { burn: true })],
    ['in progress', async () => await newPaste(bed.db)],
  ])('is nothing of a paste that is %s', async (_name, make) => {
    const code = await make();
    const markup = await pageOf(code, { authorization: `Bearer ${owner.token}` });
    expect(markup).toContain('class="heading"');
    expect(named(markup)).toEqual([]);
  });
});
