import { describe, expect, it } from '@jest/globals';
import { isShortCode, isSlug, SLUG_MARK } from '../src/index.ts';

describe('a slug', () => {
  it.each(['abc', '007', 'release-notes-2', 'a-b', 'a--b', 'x'.repeat(64)])('can be %s', (text) => {
    expect(isSlug(text)).toBe(true);
  });

  it.each([
    '',
    'ab',
    'x'.repeat(65),
    '-abc',
    'abc-',
    '---',
    'Abc',
    'a_b',
    'a.b',
    'a b',
    'abc\n',
    'ärger',
    'аbc', // a Cyrillic letter that looks like an a
    '~abc',
    'a/b',
    '../x',
  ])('cannot be %j', (text) => {
    expect(isSlug(text)).toBe(false);
  });

  it('differs from a short code by its mark', () => {
    expect(isShortCode(`${SLUG_MARK}abc`)).toBe(false);
  });
});
