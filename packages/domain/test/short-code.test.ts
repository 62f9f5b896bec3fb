import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isShortCode, shortCodeFrom } from '../src/index.ts';

describe('a short code', () => {
  it('is ten base62 characters, or none when the bytes do not suffice', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 0, maxLength: 40 }), (bytes) => {
        const usable = bytes.filter((byte) => byte < 248).length;
        const code = shortCodeFrom(bytes);
        return usable < 10 ? code === null : code !== null && /^[0-9A-Za-z]{10}$/.test(code);
      }),
    );
  });

  it('takes every letter equally often from all byte values', () => {
    const letters = new Map<string, number>();
    for (let byte = 0; byte < 256; byte++) {
      const letter = shortCodeFrom(Uint8Array.of(byte), 1);
      if (letter !== null) letters.set(letter, (letters.get(letter) ?? 0) + 1);
    }
    expect(letters.size).toBe(62);
    expect(new Set(letters.values())).toEqual(new Set([4]));
  });

  it('is told from what is none', () => {
    for (const text of ['', 'a b', 'ä', '../x', 'x'.repeat(33), 'x'.repeat(10_000)])
      expect(isShortCode(text)).toBe(false);
    expect(isShortCode('aZ09')).toBe(true);
  });
});
