import { expect, it } from '@jest/globals';
import { fileNameProblems } from '@pasteflow/domain';
import { namesToKeep } from '../browser/sealed/names-to-keep.ts';

it('gives a number to names that no zip may have, and leaves the others as they are', () => {
  expect(
    namesToKeep([
      'src/a.py',
      '../../evil.sh',
      'SRC/A.PY',
      '',
      'con',
      'a\u0308.txt',
      'x'.repeat(300),
      'file-2.sh',
    ]),
  ).toEqual([
    'src/a.py',
    'file-1-2.sh',
    'file-1-3.PY',
    'file-1-4',
    'file-1-5',
    'ä.txt',
    'file-1-7',
    'file-2.sh',
  ]);
  const hostile = Array.from({ length: 100 }, () => '/etc/passwd');
  expect(fileNameProblems(namesToKeep(hostile))).toEqual([]);
});

it('finds numbers, whatever the other names are', () => {
  const underscores = Array.from({ length: 255 }, (_, count) => `${'_'.repeat(count)}file-1`);
  const rounds = Array.from({ length: 255 }, (_, round) => `file-${round}-1`);
  const kept = namesToKeep(['..', ...underscores.filter(({ length }) => length <= 255), ...rounds]);
  expect(kept[0]).toBe('file-255-1');
  expect(fileNameProblems(kept)).toEqual([]);
});
