import { describe, expect, it } from '@jest/globals';
import { formatBytes, formatDuration, formatMillisecond, formatSecond, formatTable } from '../src/index.ts';

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

it('writes bytes in the largest unit of which there is one', () => {
  expect([0, 1023, 1024, 1.25 * 1024 ** 2, 34.4 * 1024 ** 3, 9999 * 1024 ** 4].map(formatBytes)).toEqual([
    '0 B',
    '1023 B',
    '1.0 KiB',
    '1.3 MiB',
    '34 GiB',
    '9999 TiB',
  ]);
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
