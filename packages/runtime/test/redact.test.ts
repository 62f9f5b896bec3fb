import { describe, expect, it } from '@jest/globals';
import { redact } from '../src/index.ts';

describe('redact', () => {
  it.each([
    'authorization',
    'Authorization',
    'delete-token',
    'Delete-Token',
    'delete_token',
    'deleteToken',
    'token',
    'cookie',
    'password',
    'Idempotency-Key',
  ])('removes the value of %s, at any depth', (key) => {
    expect(redact({ a: [{ [key]: 'secret' }] })).toEqual({ a: [{ [key]: '[redacted]' }] });
  });

  it.each([
    'content',
    'contentBytes',
    'content_bytes',
    'payload',
    'parameters',
    'Body',
    'MessageBody',
    'detail',
  ])('removes the content of a paste under %s', (key) => {
    expect(redact({ [key]: 'aGVsbG8=' })).toEqual({ [key]: '[redacted]' });
  });

  it('keeps fields whose names only resemble those of secrets or content', () => {
    const fields = { contentHash: 'sha256:ab', contentLength: 3, tokens: 2, content: undefined };
    expect(redact(fields)).toEqual(fields);
  });

  it('removes tokens and passwords from any text, also in errors', () => {
    const error = new Error('GET /?t=pf_AbC-123_x failed at postgres://me:hunter2@db/x');
    const text = JSON.stringify(redact({ error, note: 'pf_AbC-123_x', url: new URL('http://u:hunter2@h/') }));
    expect(text).not.toMatch(/AbC|hunter2/);
    expect(text).toContain('postgres://me:[redacted]@db/x');
  });

  it('removes tokens of identity providers, credentials of any scheme, and the signature of a presigned URL', () => {
    const jwt = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJtZSJ9.c2lnbmF0dXJl';
    const signed = 'https://s3/b/k?X-Amz-Credential=AKIA%2F1&X-Amz-Expires=900&X-Amz-Signature=abcdef01';
    const text = JSON.stringify(
      redact({ one: `bad token ${jwt}`, two: 'sent Authorization: Bearer s3cr3tvalue', three: signed }),
    );
    expect(text).not.toMatch(/eyJ|c2lnb|s3cr3t|AKIA|abcdef01/);
    expect(text).toContain('X-Amz-Expires=900');
  });

  it.each([
    ['pf_AbC-123_x', 'pf_[redacted]'],
    ['eyJhbGciOi.abc.def', '[redacted]'],
    ['BEARER s3cr3tvalue', 'BEARER [redacted]'],
    ['basic dXNlcjpwYXNz', 'basic [redacted]'],
    ['s3://me:hunter2@host', 's3://me:[redacted]@host'],
    ['x-amz-signature=abcdef01', 'x-amz-signature=[redacted]'],
    [`Unexpected token 'm', "my words" is not valid JSON`, 'Unexpected [redacted] is not valid JSON'],
  ])('removes %s where the text has no other secret', (secret, redacted) => {
    expect(redact({ text: `a ${secret} b` })).toEqual({ text: `a ${redacted} b` });
  });

  it('removes secrets by their keys also after many other keys', () => {
    for (let n = 0; n < 2000; n += 1) redact({ [`key${n}`]: n });
    expect(redact({ 'Pass-word': 'x', Api_Token: 'x', key1: 'y' })).toEqual({
      'Pass-word': '[redacted]',
      Api_Token: '[redacted]',
      key1: 'y',
    });
  });

  it.each(['my secret words', `{"title": "a", "content": [${'1, '.repeat(20)} secret "words" and more]}`])(
    'removes the excerpt that JSON.parse quotes from %s',
    (words) => {
      let error: unknown;
      try {
        JSON.parse(words);
      } catch (thrown) {
        error = thrown;
      }
      const text = JSON.stringify(redact({ error: new Error('Not an upload message', { cause: error }) }));
      expect(text).toContain('JSON');
      expect(text).not.toContain('secret');
    },
  );

  it('replaces bytes by their length', () => {
    expect(redact({ body: Buffer.from('hello'), view: new Uint8Array(3) })).toEqual({
      body: '[5 bytes]',
      view: '[3 bytes]',
    });
  });

  it('accepts cycles, bigints, deep objects, dates and functions', () => {
    const cyclic: Record<string, unknown> = { n: 1n, at: new Date(0), f: () => 1 };
    cyclic['self'] = cyclic;
    let deep: unknown = 'bottom';
    for (let level = 0; level < 100; level += 1) deep = { deep };
    expect(redact(cyclic)).toEqual({ n: '1', at: '1970-01-01T00:00:00.000Z', self: '[circular]' });
    expect(JSON.stringify(redact(deep))).toContain('[deeper]');
  });

  it('keeps the errors of an AggregateError and the fields of a typed error', () => {
    const error = new AggregateError(
      [Object.assign(new Error('one'), { code: 'E1', status: 503 })],
      'all failed',
    );
    expect(redact(error)).toMatchObject({
      name: 'AggregateError',
      message: 'all failed',
      errors: [{ message: 'one', code: 'E1', status: 503 }],
    });
  });

  it('does not change its argument', () => {
    const fields = { token: 'secret', nested: { content: 'x' } };
    redact(fields);
    expect(fields).toEqual({ token: 'secret', nested: { content: 'x' } });
  });
});
