import { expect, it } from '@jest/globals';
import { contentHashOf, randomShortCode } from '../src/index.ts';

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
