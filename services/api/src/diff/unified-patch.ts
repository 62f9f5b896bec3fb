import type { Hunk, Run } from './hunks.ts';

const SIGNS: Readonly<Record<Run['kind'], string>> = { same: ' ', removed: '-', added: '+' };

/**
 * The hunks in the unified format of diff, which `patch` applies byte for byte; empty without changes. The short codes are the names of the
 * files: a title could be anything.
 */
export function unifiedPatch(
  { from, to }: { readonly from: string; readonly to: string },
  hunks: readonly Hunk[],
): Buffer {
  if (hunks.length === 0) return Buffer.alloc(0);
  const text = hunks.map(
    ({ oldNumber, oldCount, newNumber, newCount, runs }) =>
      `@@ -${oldNumber},${oldCount} +${newNumber},${newCount} @@\n${runs.map(written).join('')}`,
  );
  return Buffer.from(`--- ${from}\n+++ ${to}\n${text.join('')}`, 'latin1');
}

function written({ kind, lines }: Run): string {
  return lines
    .map((line) => `${SIGNS[kind]}${line.endsWith('\n') ? line : `${line}\n\\ No newline at end of file\n`}`)
    .join('');
}
