import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { useApi } from './support/api.ts';
import { postJson, postRaw, problemOf } from './support/http.ts';
import { countPastes } from './support/pastes.ts';

const bed = useApi();

describe('a POST that breaks a rule', () => {
  let before = 0;
  beforeAll(async () => {
    before = await countPastes(bed.db);
  });
  afterAll(async () => {
    expect(await countPastes(bed.db)).toBe(before); // none of them has inserted a row
  });

  it.each([
    ['nothing', ''],
    ['half a document', '{"content": "x"'],
    ['something else', 'content=x'],
    ['a document and more', '{"content": "x"} {}'],
    ['bytes that are no UTF-8', Buffer.from('7b22636f6e74656e74223a22ff227d', 'hex').toString('latin1')],
  ])('is malformed when the JSON is %s', async (_name, body) => {
    const response = await fetch(`${bed.api.url}/v1/pastes`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(body, 'latin1'),
    });
    expect(await problemOf(response)).toMatchObject({ status: 400, code: 'malformed_request' });
  });

  it('names the nearest language for an unknown syntax, or all of them', async () => {
    const messageFor = async (syntax: string) =>
      (await problemOf(await postJson(bed.api.url, { content: 'x', syntax }))).errors![0]!.message;
    expect(await messageFor('pyton')).toContain('did you mean python?');
    expect(await messageFor('kling on!')).toMatch(/: text, c, .*, yaml$/);
  });

  it.each<[string, unknown, string]>([
    ['an array', [], ''],
    ['a very deep array', '['.repeat(1_000_000), ''],
    ['an array of 1,001 values', JSON.stringify(Array(1000).fill(1)), ''],
    ['null', null, ''],
    ['a text', '"content"', ''],
    ['a number', 1, ''],
    ['no content', {}, 'content'],
    ['content null', { content: null }, 'content'],
    ['content a number', { content: 1 }, 'content'],
    ['content an array', { content: ['x'] }, 'content'],
    ['content with a lone surrogate', '{"content": "\\ud800"}', 'content'],
    ['an unknown field', { content: 'x', colour: 'red' }, 'colour'],
    ['a field of Object.prototype', '{"content": "x", "__proto__": {}}', '__proto__'],
    ['a title that is a number', { content: 'x', title: 1 }, 'title'],
    ['a title with NUL', { content: 'x', title: 'a\0b' }, 'title'],
    ['a title of two lines', { content: 'x', title: 'a\nb' }, 'title'],
    ['a title with a lone surrogate', '{"content": "x", "title": "\\udc00"}', 'title'],
    ['a title of 201 characters', { content: 'x', title: 'x'.repeat(201) }, 'title'],
    ['a syntax of 51 characters', { content: 'x', syntax: 'x'.repeat(51) }, 'syntax'],
    ['an unknown syntax', { content: 'x', syntax: 'kling on!' }, 'syntax'],
    ['expires_in null', { content: 'x', expires_in: null }, 'expires_in'],
    ['expires_in half a minute', { content: 'x', expires_in: '30s' }, 'expires_in'],
    ['expires_in 53 weeks', { content: 'x', expires_in: '53w' }, 'expires_in'],
    ['expires_in in an unknown unit', { content: 'x', expires_in: '10y' }, 'expires_in'],
    ['expires_in 59', { content: 'x', expires_in: 59 }, 'expires_in'],
    ['expires_in 0', { content: 'x', expires_in: 0 }, 'expires_in'],
    ['expires_in -1', { content: 'x', expires_in: -1 }, 'expires_in'],
    ['expires_in a year and a second', { content: 'x', expires_in: 31_536_001 }, 'expires_in'],
    ['expires_in half a second', { content: 'x', expires_in: 60.5 }, 'expires_in'],
    ['expires_in 1e300', '{"content": "x", "expires_in": 1e300}', 'expires_in'],
    ['expires_in infinite', '{"content": "x", "expires_in": 1e999}', 'expires_in'],
    ['expires_in always', { content: 'x', expires_in: 'always' }, 'expires_in'],
    ['expires_in an object', { content: 'x', expires_in: {} }, 'expires_in'],
  ])('fails validation with JSON that is, or has, %s', async (_name, body, path) => {
    const problem = await problemOf(await postJson(bed.api.url, body));
    expect(problem).toMatchObject({ status: 422, code: 'validation_failed', errors: [{ path }] });
    expect(problem.errors).toHaveLength(1);
  });

  it('names every broken rule at once', async () => {
    const { errors } = await problemOf(await postJson(bed.api.url, { title: 1, expires_in: 1, a: 1, b: 2 }));
    expect(errors!.map(({ path }) => path).toSorted()).toEqual(['a', 'b', 'content', 'expires_in', 'title']);
    expect(errors!.every(({ message }) => message !== '' && !message.startsWith('Invalid input'))).toBe(true);
  });

  it.each([
    ['an unknown parameter', '?colour=red', 'colour'],
    ['a parameter twice', '?title=a&title=b', 'title'],
    ['a title with NUL', '?title=a%00b', 'title'],
    ['expires_in empty', '?expires_in=', 'expires_in'],
    ['expires_in signed', '?expires_in=+3600', 'expires_in'],
    ['expires_in fractional', '?expires_in=3600.5', 'expires_in'],
    ['expires_in hexadecimal', '?expires_in=0x100', 'expires_in'],
    ['expires_in of 400 digits', `?expires_in=${'9'.repeat(400)}`, 'expires_in'],
    ['content in the query', '?content=x', 'content'],
  ])('fails validation with %s in the query', async (_name, query, path) => {
    for (const route of ['/v1/pastes', '/']) {
      const response = await fetch(`${bed.api.url}${route}${query}`, {
        method: 'POST',
        body: Buffer.from('x'),
      });
      expect(await problemOf(response)).toMatchObject({
        status: 422,
        code: 'validation_failed',
        errors: [{ path }],
      });
    }
  });

  it('fails validation with options in the query of JSON or a form', async () => {
    const response = await fetch(`${bed.api.url}/v1/pastes?title=x`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"content": "x"}',
    });
    expect(await problemOf(response)).toMatchObject({ status: 422, errors: [{ path: 'title' }] });
  });

  it.each(['?title=%', '?title=%zz', '?title=%ff', '?%c0=x'])(
    'is malformed with the query %s',
    async (query) => {
      expect(await problemOf(await postRaw(bed.api.url, 'x', query))).toMatchObject({
        status: 400,
        code: 'malformed_request',
      });
    },
  );

  it('is refused without content, in each form', async () => {
    const form = new FormData();
    form.append('title', 'no content');
    const emptyFile = new FormData();
    emptyFile.append('content', new Blob([]), 'empty');
    const bodies: [string, Promise<Response>][] = [
      ['raw', postRaw(bed.api.url, '')],
      ['JSON', postJson(bed.api.url, { content: '' })],
      ['no body', fetch(`${bed.api.url}/v1/pastes`, { method: 'POST' })],
      ['shell', fetch(bed.api.url, { method: 'POST' })],
      ['form', fetch(`${bed.api.url}/v1/pastes`, { method: 'POST', body: form })],
      ['empty file', fetch(bed.api.url, { method: 'POST', body: emptyFile })],
    ];
    for (const [name, response] of bodies) {
      const { status, code, errors } = await problemOf(await response);
      expect({ name, status, code, path: errors?.[0]?.path }).toEqual({
        name,
        status: 422,
        code: 'content_empty',
        path: 'content',
      });
    }
  });

  it('is refused with JSON in another charset', async () => {
    const response = await postJson(
      bed.api.url,
      { content: 'x' },
      { 'content-type': 'application/json; charset=utf-16' },
    );
    expect(await problemOf(response)).toMatchObject({ status: 415, code: 'unsupported_media_type' });
  });

  describe('by its form', () => {
    const part = (name: string, value: string) =>
      `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
    const post = (body: string, type = 'multipart/form-data; boundary=b') =>
      fetch(`${bed.api.url}/v1/pastes`, { method: 'POST', headers: { 'content-type': type }, body });

    it.each([
      ['an unknown field', part('content', 'x') + part('colour', 'red'), 'colour'],
      ['a field twice', part('content', 'x') + part('title', 'a') + part('title', 'b'), 'title'],
      ['content twice', part('content', 'x') + part('content', 'y'), 'content'],
      ['an absurd expires_in', part('content', 'x') + part('expires_in', 'soon'), 'expires_in'],
      ['a title of 5 kB', part('content', 'x') + part('title', 'x'.repeat(5000)), 'title'],
      [
        'too many parts',
        part('content', 'x') + Array.from({ length: 130 }, (_, i) => part(`f${i}`, '')).join(''),
        '',
      ],
    ])('fails validation with %s', async (_name, parts, path) => {
      expect(await problemOf(await post(`${parts}--b--\r\n`))).toMatchObject({
        status: 422,
        code: 'validation_failed',
        errors: [{ path }],
      });
    });

    it.each([
      ['no boundary', part('content', 'x'), 'multipart/form-data'],
      ['no end', part('content', 'x'), undefined],
      ['no end of a part', '--b\r\nContent-Disposition: form-data; name="content"\r\n\r\nhalf', undefined],
      ['nothing of a form', 'x', undefined],
      ['an empty body', '', undefined],
    ])('is malformed with %s', async (_name, body, type) => {
      expect(await problemOf(await post(body, type))).toMatchObject({
        status: 400,
        code: 'malformed_request',
      });
    });
  });
});
