// What the import rules need to know of each workspace package, read from its package.json, tsconfig.json and
// sources.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { importsOf, type Import } from './imports.ts';

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
