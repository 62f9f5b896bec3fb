import { describe, expect, it } from '@jest/globals';
import { jsonPaste, textOptions, toOptions } from '../src/index.ts';

/** The path and message of each validation error. */
function faultsOf(paste: unknown): string[] {
  return (jsonPaste.safeParse(paste).error?.issues ?? []).map(
    (issue) => `${issue.path.join('.')}: ${issue.message}`,
  );
}

describe('a paste as JSON', () => {
  it('requires only its content', () => {
    const { content, ...options } = jsonPaste.parse({ content: 'x' });
    expect(content).toBe('x');
    expect(toOptions(options)).toEqual({
      title: null,
      syntax: null,
      expiresInSeconds: 30 * 86_400,
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
      'visibility: must be one of unlisted, private',
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
