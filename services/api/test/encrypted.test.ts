import { describe, expect, it } from '@jest/globals';
import { useApi } from './support/api.ts';
import { pasteRow } from './support/pastes.ts';
import { recordedBody, storedTextOf } from './support/recorded-pastes.ts';

const bed = useApi();
const DOCUMENT = storedTextOf(recordedBody('text'));

async function create(
  query: string,
  body: string,
): Promise<{ status: number; json: Record<string, unknown> }> {
  const response = await fetch(`${bed.api.url}/v1/pastes?${query}`, { method: 'POST', body });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

describe('an encrypted paste', () => {
  it('is created from a document of ciphertext, in each form of a body', async () => {
    const raw = await create('encrypted=true', DOCUMENT);
    expect(raw).toMatchObject({ status: 201, json: { encrypted: true, title: null, syntax: null } });
    const json = await fetch(`${bed.api.url}/v1/pastes`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ content: DOCUMENT, encrypted: true }),
    });
    const form = new FormData();
    form.set('content', DOCUMENT);
    form.set('encrypted', 'true');
    const multipart = await fetch(`${bed.api.url}/v1/pastes`, { method: 'POST', body: form });
    for (const response of [json, multipart]) {
      expect(response.status).toBe(201);
      const { short_code: code } = (await response.json()) as { short_code: string };
      expect(await pasteRow(bed.db, code)).toMatchObject({ encrypted: true, size_bytes: DOCUMENT.length });
    }
  });

  it('is refused with a title or a language that the server could read', async () => {
    const { status, json } = await create('encrypted=true&title=Secret&syntax=rust', DOCUMENT);
    expect(status).toBe(422);
    expect(json['errors']).toEqual([
      { path: 'title', message: expect.stringContaining('the server could read it') },
      { path: 'syntax', message: expect.stringContaining('the server could read it') },
    ]);
  });

  it.each([
    ['a plain text', 'hello', 'content'],
    ['bytes that are no text', 'é\0', 'content'],
    ['a document with spaces', ` ${DOCUMENT}`, 'content'],
    ['what PrivateBin posts', recordedBody('text'), 'content'],
    ['too few rounds', DOCUMENT.replace('100000', '10000'), 'content.adata.0.2'],
    ['a discussion', storedTextOf(recordedBody('discussion')), 'content.adata.2'],
  ])('is refused with %s as its content', async (_, body, path) => {
    const { status, json } = await create('encrypted=true', body);
    expect(status).toBe(422);
    expect(json['errors']).toEqual([{ path, message: expect.any(String) }]);
  });

  it('is deleted when it is read if its document says so, and is refused otherwise', async () => {
    const document = DOCUMENT.replace(/,0,0\],"ct"/, ',0,1],"ct"');
    expect(document).not.toBe(DOCUMENT);
    const refused = await create('encrypted=true', document);
    expect(refused.status).toBe(422);
    expect(refused.json['errors']).toEqual([{ path: 'burn', message: expect.stringContaining('adata.3') }]);
    const created = await create('encrypted=true&burn=true', document);
    expect(created).toMatchObject({ status: 201, json: { encrypted: true, burn: true } });
  });

  it('is encrypted or not, and nothing between', async () => {
    expect((await create('encrypted=yes', DOCUMENT)).status).toBe(422);
    expect((await create('encrypted=', DOCUMENT)).status).toBe(422);
    expect((await create('encrypted=false', DOCUMENT)).json['encrypted']).toBe(false);
  });
});
