import { expect, it } from '@jest/globals';
import { folderViolations } from '../folder-rules.ts';
import type { Workspace } from '../workspace.ts';

const orders = { 'packages/s3': 'top bottom' };

/** A package whose source files are given with what they import. */
function workspace(files: Record<string, string[]>): Workspace {
  return {
    folder: 'packages/s3',
    name: '@pasteflow/s3',
    dependencies: [],
    devDependencies: [],
    exports: [],
    references: [],
    files: Object.entries(files).map(([path, imports]) => ({
      path: `packages/s3/src/${path}`,
      kind: 'src',
      text: '',
      imports: imports.map((specifier) => ({ specifier, line: 1 })),
    })),
  };
}

const problems = (files: Record<string, string[]>) => folderViolations([workspace(files)], orders);

it('accepts imports from lower folders, from the same folder and from files beside the folders', () => {
  const files = {
    'index.ts': ['./top/a.ts', './bottom/b.ts'],
    'errors.ts': [],
    'top/a.ts': ['./c.ts', '../bottom/b.ts', '../errors.ts'],
    'top/c.ts': [],
    'bottom/b.ts': ['../errors.ts', 'node:fs'],
  };
  expect(problems(files)).toEqual([]);
});

it('refuses an import from a higher folder', () => {
  const files = { 'top/a.ts': [], 'bottom/b.ts': ['../top/a.ts'] };
  expect(problems(files)).toEqual([
    "packages/s3/src/bottom/b.ts: 'packages/s3/src/top/a.ts' is above bottom/ (scripts/folder-rules.ts)",
  ]);
});

it('refuses an import from a higher folder through files beside the folders', () => {
  const files = {
    'top/a.ts': [],
    'one.ts': ['./other.ts'],
    'other.ts': ['./top/a.ts', './one.ts'],
    'bottom/b.ts': ['../one.ts'],
  };
  expect(problems(files)).toEqual([expect.stringContaining("'packages/s3/src/one.ts' is above bottom/")]);
});

it('refuses an import of a file beside the folders that imports from the same folder', () => {
  const files = {
    'index.ts': ['./bottom/b.ts'],
    'bottom/b.ts': [],
    'bottom/c.ts': ['../index.ts'],
    'top/a.ts': [],
  };
  expect(problems(files)).toEqual([expect.stringContaining("'packages/s3/src/index.ts' is above bottom/")]);
});

it('refuses a folder that is not listed, and a listed one that is empty', () => {
  expect(problems({ 'other/a.ts': [] })).toEqual([
    'packages/s3/src/other has no place in scripts/folder-rules.ts',
  ]);
  expect(problems({ 'top/a.ts': [] })).toEqual([
    'packages/s3/src/bottom is in scripts/folder-rules.ts and has no file',
  ]);
});
