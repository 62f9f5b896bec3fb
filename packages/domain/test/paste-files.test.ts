import { describe, expect, it } from '@jest/globals';
import { fileNameProblems, normalFileName, placedFiles } from '../src/index.ts';

describe('names of files', () => {
  it.each(
    [
      'main.ts',
      'src/main.ts',
      '.gitignore',
      '.github/workflows/ci.yml',
      'Makefile',
      'ä ö.txt',
      '日本語.md',
      'a.b.c',
      '...a',
      '-rf',
      '~',
      "it's 100% (copy) [1] {2} & $HOME #3; !.txt",
      'console.log',
      'com.txt',
      'a'.repeat(255),
      'Screenshot at 5.00\u{202F}PM.png',
      '😀.txt',
    ].map((name) => [name]),
  )('%j is a name', (name) => expect(fileNameProblems([name])).toEqual([]));

  it.each([
    ['', 'must not be empty'],
    ['a'.repeat(256), 'must have at most 255 bytes'],
    ['ä'.repeat(128), 'must have at most 255 bytes'],
    ...['.', '..', '../a', 'a/..', 'a/../b', './a', 'a/./b', 'a/.'].map((name) => [
      name,
      'must not have . or .. as a part',
    ]),
    ...['/', '/etc/passwd', 'a/', 'a//b', '//host/share'].map((name) => [
      name,
      'must be a relative path, without an empty part',
    ]),
    ...[
      String.raw`a\b`,
      String.raw`..\..\b`,
      String.raw`C:\b`,
      'C:b',
      'a:stream',
      'a<b',
      'a>b',
      'a"b',
      'a|b',
      'a?b',
      'a*b',
    ].map((name) => [name, String.raw`must not have \ < > : " | ? or *, which Windows allows in no name`]),
    ...[
      'a\0b',
      'a\nb',
      'a\tb',
      'a\u007Fb',
      'a\u0085b',
      'a\u001B[31mb',
      'a\u202Etxt.exe',
      'a\u2066b',
      'a\u200Fb',
      'a\u200Bb',
      'a\u200Db',
      'a\u00ADb',
      'a\uFEFFb',
      'a\u2060b',
      'a\u2028b',
      'a\u3164b',
      'a\u2800b',
      'a\uFE0Fb',
      'a\u{E0041}b',
      'a\uD800b',
    ].map((name) => [name, 'must not have control characters or invisible ones']),
    ...['a.', 'a ', 'a/b. ', 'a./b', 'a\u00A0', '...'].map((name) => [
      name,
      'must not have a part that ends with a dot or a blank',
    ]),
    ...[' a', 'a/ b', '\u3000a'].map((name) => [name, 'must not have a part that begins with a blank']),
    ...['nul', 'NUL.txt', 'aux', 'a/Con', 'con.tar.gz', 'com1', 'LPT9.log', 'COM¹', 'CONIN$', 'nul .txt'].map(
      (name) => [name, 'must not have a part that names a device of Windows, such as nul'],
    ),
  ])('%j %s', (name, message) => expect(fileNameProblems([name])).toEqual([{ index: 0, message }]));

  it.each([
    [['a', 'b', 'a'], 2, 'must be another one: a file before it has the same name, also in small letters'],
    [
      ['README', 'readme'],
      1,
      'must be another one: a file before it has the same name, also in small letters',
    ],
    [
      ['straße', 'STRASSE'],
      1,
      'must be another one: a file before it has the same name, also in small letters',
    ],
    [
      ['straße', 'STRAẞE'],
      1,
      'must be another one: a file before it has the same name, also in small letters',
    ],
    [['a', 'a/b'], 1, 'must not be the name of a folder and of a file'],
    [['a/b/c', 'A/B'], 1, 'must not be the name of a folder and of a file'],
  ])('%j can not stand side by side', (names, index, message) => {
    expect(fileNameProblems(names)).toEqual([{ index, message }]);
  });

  it('stand side by side in folders', () => {
    expect(fileNameProblems(['a/b', 'a/c', 'b', 'ab', 'c/a/b'])).toEqual([]);
  });

  it('that are too long are in no folder: a name of 20 MB would have ten million', () => {
    const long = 'a/'.repeat(1000);
    expect(fileNameProblems([long, 'a']).map(({ index }) => index)).toEqual([0]);
  });

  it('are compared in one normal form', () => {
    expect(normalFileName('a\u0308')).toBe('ä');
  });
});

it('files follow each other without gaps', () => {
  const sizes = [3, 0, 4].map((size, n) => ({ name: String(n), size, syntax: null }));
  expect(placedFiles(sizes).map(({ offset, size }) => [offset, size])).toEqual([
    [0, 3],
    [3, 0],
    [3, 4],
  ]);
});
