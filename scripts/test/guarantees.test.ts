import { expect, it } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(join(root, 'docs/guarantees.md'), 'utf8');

/** A list item with the file of a test, and the name of the test when one of the file is meant. */
const SHOWN_BY =
  /^ +- `([^`]+\.(?:test|volume|faults|observability|browser|lazyfs)\.ts)`(?::((?:.|\n(?! +-|\n))+))?/gm;

/** The proofs can be left out of a checkout. */
const isCheckedOut = (path: string): boolean =>
  !path.startsWith('proofs/') || existsSync(join(root, 'proofs'));

const shown = [...page.matchAll(SHOWN_BY)].map(([, path = '', name]) => ({
  path,
  name: name?.replaceAll(/\s+/g, ' ').trim(),
}));

it('shows each guarantee by tests that exist', () => {
  const missing = shown.filter(({ path, name }) => {
    if (!isCheckedOut(path)) return false;
    const file = join(root, path);
    return !existsSync(file) || (name !== undefined && !readFileSync(file, 'utf8').includes(name));
  });
  expect(missing).toEqual([]);
  expect(shown.length).toBeGreaterThan(10);
});

it('has a test for each guarantee', () => {
  const guarantees = page.split(/^## /m).slice(1);
  expect(guarantees.filter((guarantee) => guarantee.match(SHOWN_BY) === null)).toEqual([]);
});
