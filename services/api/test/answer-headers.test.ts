import { describe, expect, it } from '@jest/globals';
import { useApi } from './support/api.ts';
import { dial, answerOn, rawExchange } from './support/http.ts';
import { processedPaste } from './support/pastes.ts';

const bed = useApi();

async function headerOf(url: string, name: string): Promise<string | null> {
  const response = await fetch(url);
  await response.arrayBuffer();
  return response.headers.get(name);
}

describe('Strict-Transport-Security', () => {
  it('is on every answer when PUBLIC_URL is https, also for bytes that are no HTTP', async () => {
    const api = await bed.start({ env: { PUBLIC_URL: 'https://paste.example.org/' } });
    for (const path of ['/', '/docs', '/readyz', '/v1/pastes/unknown', '/nothing/here'])
      expect(await headerOf(api.url + path, 'strict-transport-security')).toBe('max-age=31536000');
    const { headers } = await rawExchange(api.port, 'what?\r\n\r\n');
    expect(headers).toMatchObject({ 'strict-transport-security': 'max-age=31536000' });
  });

  it('is on no answer otherwise', async () => {
    const api = await bed.start({ env: { PUBLIC_URL: 'http://https.example.org' } });
    for (const { url, port } of [bed.api, api]) {
      expect(await headerOf(url, 'strict-transport-security')).toBeNull();
      expect((await rawExchange(port, 'what?\r\n\r\n')).headers).not.toHaveProperty(
        'strict-transport-security',
      );
    }
  });
});

describe('X-Robots-Tag', () => {
  it('keeps pastes out of search engines, in every form', async () => {
    const code = await processedPaste(bed, 'unlisted');
    const paste = `${bed.api.url}/v1/pastes/${code}`;
    for (const url of [`${bed.api.url}/${code}`, paste, `${paste}/content`, `${paste}/timeline`])
      expect(await headerOf(url, 'x-robots-tag')).toBe('noindex, nofollow');
    const conditional = await dial(bed.api.port);
    conditional.write(`GET /${code} HTTP/1.1\r\nHost: x\r\nIf-None-Match: *\r\nConnection: close\r\n\r\n`);
    expect(await answerOn(conditional)).toMatchObject({
      status: 304,
      headers: { 'x-robots-tag': 'noindex, nofollow' },
    });
  });

  it('lets search engines list the start page and the reference', async () => {
    for (const path of ['/', '/docs']) expect(await headerOf(bed.api.url + path, 'x-robots-tag')).toBeNull();
  });
});
