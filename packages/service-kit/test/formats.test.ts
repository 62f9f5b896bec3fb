import { describe, expect, it } from '@jest/globals';
import { formatDuration, formatMillisecond, formatSecond, formatTable } from '../src/index.ts';

describe('formatTable', () => {
  it('aligns the columns, those of numbers to the right', () => {
    expect(
      formatTable(
        ['NAME', '>COUNT'],
        [
          ['one', '1'],
          ['a hundred', '100'],
        ],
      ),
    ).toBe(
      // oxfmt-ignore
      'NAME       COUNT\none            1\na hundred    100\n',
    );
  });

  it('replaces characters that move the cursor of a terminal', () => {
    expect(formatTable(['WHY'], [['\u001b[2J\r\nfine\u202e']])).toBe('WHY\n [2J fine\n');
  });
});

describe('formatDuration', () => {
  it.each([
    [null, '-'],
    [0.04, '0.0 s'],
    [9.99, '10.0 s'],
    [59.4, '59 s'],
    [2, '2 s'],
    [59.6, '1 m'],
    [200, '3 m 20 s'],
    [3725, '1 h 2 m'],
    [93_600, '1 d 2 h'],
  ])('formats %s seconds as %s', (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text);
  });
});

describe('a time', () => {
  it('is in UTC, to the second or the millisecond', () => {
    const time = new Date('2026-11-21T12:00:00.250Z');
    expect([formatSecond(time), formatMillisecond(time), formatMillisecond(null)]).toEqual([
      '2026-11-21T12:00:00Z',
      '2026-11-21T12:00:00.250Z',
      '-',
    ]);
  });
});
