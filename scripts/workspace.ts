// What the import rules need to know of each workspace package, read from its package.json, tsconfig.json and
// sources.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

export type SourceFile = {
  /** Relative to the root, e.g. `packages/domain/src/index.ts`. */
  path: string;
  kind: 'src' | 'test';
  text: string;
  imports: Import[];
};

export type Workspace = {
  /** Relative to the root, e.g. `packages/domain`. */
  folder: string;
  /** e.g. `@pasteflow/domain` */
  name: string;
  dependencies: string[];
  devDependencies: string[];
  /** Subpaths other packages may import: `.`, `./testing`. */
  exports: string[];
  /** Folders named in the references of its tsconfig.json, relative to the root. */
  references: string[];
  files: SourceFile[];
};

export function readWorkspaces(base: string): Workspace[] {
  return globSync('{packages,clients,services,proofs,examples}/*/package.json', { cwd: base })
    .sort()
    .map((manifest) => readWorkspace(base, dirname(manifest)));
}

function readWorkspace(base: string, folder: string): Workspace {
  const manifest = readJson<Manifest>(join(base, folder, 'package.json'));
  const tsconfig = readJson<{ references?: { path: string }[] }>(join(base, folder, 'tsconfig.json'));
  return {
    folder,
    name: manifest.name,
    dependencies: Object.keys(manifest.dependencies ?? {}),
    devDependencies: Object.keys(manifest.devDependencies ?? {}),
    exports: Object.keys(manifest.exports ?? {}),
    references: (tsconfig.references ?? []).map(({ path }) => resolve('/', folder, path).slice(1)),
    files: (['src', 'test'] as const).flatMap((kind) =>
      globSync(`${folder}/${kind}/**/*.{ts,mts,cts,js,mjs,cjs}`, { cwd: base })
        .sort()
        .map((path) => {
          const text = readFileSync(join(base, path), 'utf8');
          return { path, kind, text, imports: importsOf(text) };
        }),
    ),
  };
}

/** The file that a relative import names, relative to the root. */
export function resolveRelative(from: string, specifier: string): string {
  return resolve('/', dirname(from), specifier).slice(1);
}

type Manifest = {
  name: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  exports?: Record<string, unknown>;
};

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(path, 'utf8')) as T;
}

// Finds the imports of a TypeScript source. TypeScript 7 has no compiler API and oxfmt fixes the shape of the
// statements, so patterns do; type-only imports count, for they are arrows as well.

type Import = { specifier: string; line: number };

const patterns = [
  /^(?:import|export)\s(?:[^'"`;]*?\sfrom\s)?['"]([^'"]+)['"]/gm, // import … from 'x', export … from 'x', import 'x'
  /\b(?:import|require|import\.meta\.resolve|unstable_mockModule)\(\s*['"]([^'"]+)['"]/g, // import('x'), also in a type
];

function importsOf(text: string): Import[] {
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
