import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { ROOT } from '../src/entries.ts';
import { plant, readPlants } from '../src/plants.ts';

const plants = readPlants();

it.each(plants)('the planted fault $name applies to the sources', (fault) => {
  expect(() => plant(fault, ROOT, '--check')).not.toThrow();
});

it('each planted fault stands in the table of docs/guarantees.md, with the proof that finds it', () => {
  const page = readFileSync(join(ROOT, 'docs/guarantees.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `([a-z-]+)`[^|]+\| `(\w+)`/gm)].map(([, name, proof]) => [name, proof]);
  expect(rows).toEqual(plants.map(({ name, proof }) => [name, proof.split(' ')[0]]));
  expect(rows.length).toBeGreaterThanOrEqual(12);
});
