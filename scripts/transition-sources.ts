import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { transitionsOf, type Machine } from '../packages/domain/src/index.ts';

/** `transition(pasteUpload, 'IN_PROGRESS', 'PROCESSED')` */
const call = /\btransition\(\s*(\w+),\s*'(\w+)',\s*'(\w+)',?\s*\)/g;

/** Any call, also one that the pattern above does not match. */
const anyCall = /\btransition\(/g;

/** By machine and by `from → to`: the files, relative to the root, that name the transition. */
export type TransitionSources = ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>;

/**
 * Finds the files that name each transition of the machines by a call of `transition()`.
 * @throws Error when no file names a transition of a table, and when a call does not name its machine and
 * states literally
 */
export function findTransitionSources(
  machines: readonly Machine[],
  { root, files }: { root: string; files: readonly string[] },
): TransitionSources {
  const found = new Map(
    machines.map((machine) => [
      machine.name,
      new Map(transitionsOf(machine).map(([from, to]) => [`${from} → ${to}`, [] as string[]])),
    ]),
  );
  for (const file of files.toSorted()) {
    const text = readFileSync(join(root, file), 'utf8');
    const calls = [...text.matchAll(call)];
    if (calls.length !== [...text.matchAll(anyCall)].length)
      throw new Error(`${file}: name the machine and both states literally in each call of transition()`);
    for (const [, machine = '', from, to] of calls) {
      const places = found.get(snakeCase(machine))?.get(`${from} → ${to}`);
      if (places === undefined) throw new Error(`${file}: no table has ${machine} ${from} → ${to}`);
      if (!places.includes(file)) places.push(file);
    }
  }
  for (const [machine, arrows] of found)
    for (const [arrow, places] of arrows)
      if (places.length === 0) throw new Error(`no statement makes the transition ${machine} ${arrow}`);
  return found;
}

/** The name of a machine from the name of its constant: pasteUpload → paste_upload. */
function snakeCase(constant: string): string {
  return constant.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
