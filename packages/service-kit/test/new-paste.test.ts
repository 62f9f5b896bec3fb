import { describe, expect, it } from '@jest/globals';
import {
  contentHashOf,
  inFingerprint,
  jsonPaste,
  randomShortCode,
  textOptions,
  toOptions,
} from '../src/index.ts';

/** The path and message of each validation error. */
function faultsOf(paste: unknown): string[] {
  return (jsonPaste.safeParse(paste).error?.issues ?? []).map(
    (issue) => `${issue.path.join('.')}: ${issue.message}`,
  );
}

describe('a paste as JSON', () => {
  it('requires only its content', () => {
    const { content, files: _, ...options } = jsonPaste.parse({ content: 'x' });
    expect(content).toBe('x');
    expect(toOptions(options)).toEqual({
      title: null,
      syntax: null,
      expiresInSeconds: undefined,
      visibility: 'unlisted',
    });
  });

  it('reports what is wrong with each field', () => {
    expect(
      faultsOf({
        content: '\ud800',
        title: 'a\nb',
        syntax: 'x'.repeat(51),
        expires_in: 59,
        visibility: 'me',
      }),
    ).toEqual([
      'content: must be well-formed Unicode, without lone surrogates',
      'title: must not have control characters',
      expect.stringMatching(/^syntax: must be a language that this service knows: text, c, .*, yaml$/),
      'expires_in: must be whole seconds from 60 to 31536000, a time such as "10m", "12h" or "7d", or "never"',
      'visibility: must be one of unlisted, members, private',
    ]);
    expect(faultsOf([])).toEqual([': must be a JSON object']);
    expect(faultsOf({ content: 'x', colour: 'red' })).toHaveLength(1);
  });

  it.each([`python${' '.repeat(50)}`, 'python\n', '\tpython'])(
    'takes no language with many spaces or with control characters around it: %j',
    (syntax) => {
      const meant = 'syntax: must be a language that this service knows: did you mean python?';
      expect(faultsOf({ content: 'x', syntax })).toEqual([meant]);
      expect(faultsOf({ content: 'x', syntax: ' Python ' })).toEqual([]);
    },
  );

  it('counts characters instead of UTF-16 units', () => {
    expect(faultsOf({ content: 'x', title: '😀'.repeat(200) })).toEqual([]);
    expect(faultsOf({ content: 'x', title: '😀'.repeat(201) })).toHaveLength(1);
    expect(faultsOf({ content: 'x', title: 'x'.repeat(201) })).toHaveLength(1);
  });

  it('accepts an empty text and null as no value', () => {
    const { title, syntax } = jsonPaste.parse({ content: 'x', title: '', syntax: null });
    expect([title, syntax]).toEqual([null, null]);
  });
});

/**
 * The fingerprint of a request with an Idempotency-Key has this text, so that a repetition is recognized after
 * an upgrade. These texts are those of 0.1.0: a new option is left out when it has its default.
 */
describe('the options of a paste in a fingerprint', () => {
  const all = {
    parent: 'q7Zk2Lm9Xa',
    slug: 'release-notes',
    burn: 'true',
    encrypted: 'true',
    visibility: 'private',
    expires_in: 'never',
    syntax: ' Python ',
    title: 'Ä title',
  };

  it.each([
    [{}, '{"title":null,"syntax":null,"expiresInSeconds":2592000,"visibility":"unlisted"}'],
    [
      { title: '', syntax: '', slug: '', parent: '', burn: 'false', encrypted: 'false' },
      '{"title":null,"syntax":null,"expiresInSeconds":2592000,"visibility":"unlisted"}',
    ],
    [
      { burn: 'true', title: 'a', expires_in: '2h' },
      '{"title":"a","syntax":null,"expiresInSeconds":7200,"visibility":"unlisted","burn":true}',
    ],
    [
      { slug: 'release-notes', visibility: 'unlisted' },
      '{"title":null,"syntax":null,"expiresInSeconds":2592000,"visibility":"unlisted","slug":"release-notes"}',
    ],
    [
      all,
      '{"title":"Ä title","syntax":" Python ","expiresInSeconds":null,"visibility":"private","encrypted":true,"burn":true,"slug":"release-notes","parent":"q7Zk2Lm9Xa"}',
    ],
  ])('are written as in 0.1.0: %j', (sent, written) => {
    expect(JSON.stringify(inFingerprint(toOptions(textOptions.parse(sent))))).toBe(written);
    const {
      content: _,
      files: __,
      ...json
    } = jsonPaste.parse({
      content: 'x',
      ...sent,
      ...('burn' in sent && { burn: sent.burn === 'true' }),
      ...('encrypted' in sent && { encrypted: sent.encrypted === 'true' }),
    });
    expect(JSON.stringify(inFingerprint(toOptions(json)))).toBe(written);
  });
});

describe('options as text', () => {
  it('have the same meaning as in JSON', () => {
    const options = toOptions(textOptions.parse({ title: 'T', expires_in: '3600', visibility: 'private' }));
    expect(options).toEqual({ title: 'T', syntax: null, expiresInSeconds: 3600, visibility: 'private' });
    expect(toOptions(textOptions.parse({ encrypted: 'true' })).encrypted).toBe(true);
    expect(toOptions(textOptions.parse({ expires_in: 'never' })).expiresInSeconds).toBeNull();
  });

  it.each(['', '3600.5', '-60', '1e3', '0x100', '99999999999'])('reject an expires_in of %p', (text) => {
    expect(textOptions.safeParse({ expires_in: text }).success).toBe(false);
  });
});

it('hashes content with SHA-256', () => {
  // The digest of "abc" from FIPS 180-2, appendix B.1.
  expect(contentHashOf(Buffer.from('abc'))).toBe(
    'sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  );
});

it('generates distinct short codes of ten base62 characters', () => {
  const codes = Array.from({ length: 1000 }, randomShortCode);
  for (const code of codes) expect(code).toMatch(/^[0-9A-Za-z]{10}$/);
  expect(new Set(codes).size).toBe(1000);
});
