import { describe, expect, it } from '@jest/globals';
import { isVisibleName, MAX_SHOWN_NAME_CHARACTERS, shownNameFrom } from '../src/index.ts';

describe('the name that an identity provider gives', () => {
  it.each([
    ['Anna Adler', 'Anna Adler'],
    ['  Anna \t\r\n Adler\u00a0', 'Anna Adler'],
    ['Anna\u2028Adler\u2029', 'Anna Adler'],
    ['\u202eanna\u202c\u2066\u2069\u061c', 'anna'],
    ['an\u200bn\u200da\u00ad\ufeff', 'anna'],
    ['an\u3164na\u115f\u034f\u2800\u{e0041}', 'anna'],
    ['an\u0000na\u001b[1m', 'an na [1m'],
    ['an\ue000na\u{10ffff}\ufffd', 'anna'],
    ['an\ud800na', 'anna'],
    ['Zoe\u0308', 'Zo\u00eb'],
    [`Anna${'\u033f'.repeat(90)} A`, `Anna${'\u033f'.repeat(8)} A`],
    ['\u0344'.repeat(100), '\u0308\u0301'.repeat(4)],
    ['\u1019\u103c\u103d\u103e\u1031\u1037', '\u1019\u103c\u103d\u103e\u1031\u1037'],
    ['محمد علي', 'محمد علي'],
    ['👩🏽 Anna', '👩🏽 Anna'],
  ])('%j is shown as %j', (claim, shown) => {
    expect(shownNameFrom(claim)).toBe(shown);
  });

  it.each([
    [''],
    [' \u200b\u202e '],
    [undefined],
    [null],
    [42],
    [['Anna']],
    [{ name: 'Anna' }],
    ['a'.repeat(10_001)],
  ])('%j is none', (claim) => {
    expect(shownNameFrom(claim)).toBeNull();
  });

  it('has at most 100 characters, and half of none', () => {
    expect(shownNameFrom('😀'.repeat(150))).toBe('😀'.repeat(MAX_SHOWN_NAME_CHARACTERS));
    expect(shownNameFrom(`${'a'.repeat(99)} b`)).toBe('a'.repeat(99));
  });

  it('is visible, whatever it was made of, and cleaned once for all', () => {
    for (let start = 0; start < 0x11_0000; start += 64) {
      const claim = Array.from({ length: 64 }, (_, n) => String.fromCodePoint(start + n)).join('');
      const shown = shownNameFrom(claim) ?? '';
      expect([start, isVisibleName(shown), shownNameFrom(shown) ?? '']).toEqual([start, true, shown]);
    }
  });
});
