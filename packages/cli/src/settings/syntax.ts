import { languages } from '@pasteflow/web/languages';
import { UsageError } from '../errors.ts';

const MAX_TYPOS = 2;

/** @returns the language as the pages know it. @throws UsageError with the nearest one */
export function syntaxOf(text: string): string {
  const wanted = text.trim().toLowerCase();
  const names = languages.flatMap(({ id, aliases = [], extensions }) =>
    [id, ...aliases, ...extensions].map((name) => ({ id, name })),
  );
  const known = names.find(({ name }) => name === wanted);
  if (known !== undefined) return known.id;
  const [nearest] = names
    .map(({ id, name }) => ({ id, distance: distanceOf(wanted, name) }))
    .toSorted((a, b) => a.distance - b.distance);
  const hint =
    nearest !== undefined && nearest.distance <= MAX_TYPOS
      ? `Did you mean ${nearest.id}?`
      : `The languages are ${languages.map(({ id }) => id).join(', ')}.`;
  throw new UsageError(`The language ${JSON.stringify(text)} is unknown. ${hint}`);
}

/** The number of characters to insert, remove or replace (Levenshtein). */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 0; i < a.length; i += 1) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j += 1)
      next.push(Math.min((row[j] ?? 0) + (a[i] === b[j] ? 0 : 1), (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    row = next;
  }
  return row.at(-1) ?? 0;
}
