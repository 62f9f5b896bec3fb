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
  ).toEqual(['src/a.py', '_file-2.sh', '_file-3.PY', '_file-4', '_file-5', 'ä.txt', '_file-7', 'file-2.sh']);
  const hostile = Array.from({ length: 100 }, () => '/etc/passwd');
  expect(fileNameProblems(namesToKeep(hostile))).toEqual([]);
});
