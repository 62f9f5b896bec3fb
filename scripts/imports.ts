// Finds the imports of a TypeScript source. TypeScript 7 has no compiler API and oxfmt fixes the shape of the
// statements, so patterns do; type-only imports count, for they are arrows as well.

export type Import = { specifier: string; line: number };

const patterns = [
  /^(?:import|export)\s(?:[^'"`;]*?\sfrom\s)?['"]([^'"]+)['"]/gm, // import … from 'x', export … from 'x', import 'x'
  /\b(?:import|require|import\.meta\.resolve|unstable_mockModule)\(\s*['"]([^'"]+)['"]/g, // import('x'), also in a type
];

export function importsOf(text: string): Import[] {
  const source = withoutComments(text);
  return patterns
    .flatMap((pattern) => [...source.matchAll(pattern)])
    .map((match) => ({ specifier: match[1] ?? '', line: lineAt(source, match.index) }))
    .sort((a, b) => a.line - b.line);
}

/** `import(name)` can't be checked, so it is refused; the line of the first, if any. */
export function computedImport(text: string): number | undefined {
  const source = withoutComments(text);
  const index = source.search(/(?<![.\w])import\(\s*[^'"\s]/);
  return index < 0 ? undefined : lineAt(source, index);
}

/**
 * Comments on lines of their own, blanked so that line numbers stay; a trailing one can't look like a
 * statement.
 */
function withoutComments(text: string): string {
  return text.replace(/^[ \t]*(?:\/\/.*|\/\*[\s\S]*?\*\/)/gm, (comment) => comment.replace(/[^\n]/g, ' '));
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}
