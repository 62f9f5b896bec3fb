import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const REPOSITORY = fileURLToPath(new URL('../../../..', import.meta.url));

/** What people paste most: code, prose and JSON. About two thirds of these bytes are code. */
const TEXTS = [
  '{packages,clients}/*/src/**/*.ts',
  'services/*/src/**/*.ts',
  'docs/**/*.md',
  '**/package.json',
];

/** A step between two pieces that is not a divisor of the length: the pieces of a load don't repeat. */
const STEP = 7919;

/**
 * Pieces of the sources and documents of this repository, each of so many bytes. The same ones in each run.
 */
export function textPieces(bytes: number): (n: number) => Buffer {
  const exclude = (path: string): boolean => path.includes('node_modules') || path.includes('dist');
  const files = globSync(TEXTS, { cwd: REPOSITORY, exclude }).toSorted();
  const all = Buffer.concat(files.map((file) => readFileSync(`${REPOSITORY}/${file}`)));
  return (n) => {
    const start = (n * STEP) % (all.length - bytes);
    return all.subarray(start, start + bytes);
  };
}
