import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { violations } from '../arrow-rules.ts';
import { readWorkspaces } from '../workspace.ts';

let base: string;

function write(path: string, content: string | object): void {
  mkdirSync(dirname(join(base, path)), { recursive: true });
  writeFileSync(join(base, path), typeof content === 'string' ? content : JSON.stringify(content));
}

function workspace(folder: string, dependencies: string[], references = dependencies): void {
  const name = `@pasteflow/${folder.split('/')[1]}`;
  const scoped = Object.fromEntries(dependencies.map((each) => [`@pasteflow/${each}`, 'workspace:*']));
  write(`${folder}/package.json`, { name, exports: { '.': {} }, dependencies: scoped });
  write(`${folder}/tsconfig.json`, {
    references: references.map((each) => ({ path: `../../packages/${each}` })),
  });
  write(`${folder}/src/index.ts`, dependencies.map((each) => `import '@pasteflow/${each}';\n`).join(''));
}

function problems(): string[] {
  return violations(readWorkspaces(base), ['@jest/globals']);
}

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'pasteflow-arrows-'));
  workspace('packages/domain', []);
  workspace('packages/dev-stack', []);
  workspace('packages/s3', ['domain']);
  workspace('packages/runtime', ['domain']);
  workspace('services/api', ['domain', 's3']);
  workspace('services/janitor', ['domain', 's3']);
});

afterEach(() => rmSync(base, { recursive: true }));

describe('the import arrows', () => {
  it('hold in a workspace that keeps to them', () => {
    expect(problems()).toEqual([]);
  });

  const adapter = 'packages/s3/src/put.ts';
  it.each([
    [
      'an adapter imports another',
      adapter,
      "import { x } from '@pasteflow/runtime';",
      'may not import @pasteflow/runtime',
    ],
    [
      'an adapter imports the stack',
      adapter,
      "import '@pasteflow/dev-stack';",
      'may not import @pasteflow/dev-stack',
    ],
    [
      'a service imports another',
      'services/api/src/a.ts',
      "import '@pasteflow/janitor';",
      'may not import @pasteflow/janitor',
    ],
    [
      'a package imports a service',
      adapter,
      "export * from '@pasteflow/api';",
      'may not import @pasteflow/api',
    ],
    [
      'a test imports another adapter',
      'packages/s3/test/a.test.ts',
      "import '@pasteflow/runtime';",
      'may not import',
    ],
    ['an import is only a type', adapter, "import type { X } from '@pasteflow/runtime';", 'may not import'],
    [
      'an import spans lines',
      adapter,
      "import {\n  a,\n  b,\n} from '@pasteflow/runtime';",
      'may not import',
    ],
    ['an import is dynamic', adapter, "const x = await import('@pasteflow/runtime');", 'may not import'],
    ['an import is computed', adapter, 'const x = await import(name);', 'computed'],
    [
      'the domain imports from Node',
      'packages/domain/src/a.ts',
      "import 'node:fs';",
      'the domain imports nothing',
    ],
    [
      'the domain imports a package',
      'packages/domain/src/a.ts',
      "import 'zod';",
      'the domain imports nothing',
    ],
    ['a dependency is undeclared', adapter, "import { z } from 'zod';", 'missing in the dependencies'],
    [
      'a workspace dependency is undeclared',
      'services/api/src/a.ts',
      "import '@pasteflow/runtime';",
      'missing in the references',
    ],
    ['an import is deep', adapter, "import '@pasteflow/domain/src/retry.ts';", 'not among the exports'],
    ['a path leaves the package', adapter, "import '../../domain/src/index.ts';", 'leaves the package'],
    ['a source imports a test', adapter, "import '../test/factory.ts';", 'leaves src/'],
  ])('are broken when %s', (_case, path, source, problem) => {
    write(path, `${source}\n`);
    expect(problems()).toEqual([expect.stringContaining(problem)]);
  });

  it('are broken when package.json or tsconfig.json declare what is not imported', () => {
    workspace('packages/s3', ['domain']);
    write('packages/s3/src/index.ts', '');
    expect(problems()).toEqual([
      "packages/s3/package.json: src/ doesn't use the dependency @pasteflow/domain",
      "packages/s3/tsconfig.json: src/ doesn't use the reference packages/domain",
    ]);
  });

  it('are broken when package.json or tsconfig.json misses what the other has', () => {
    workspace('packages/s3', ['domain'], []);
    expect(problems()).toEqual([expect.stringContaining('missing in the references of packages/s3')]);
    workspace('packages/s3', [], ['domain']);
    write('packages/s3/src/index.ts', "import '@pasteflow/domain';\n");
    expect(problems()).toEqual([expect.stringContaining('missing in the dependencies of packages/s3')]);
  });

  it('ignore what only a comment says', () => {
    write(
      adapter,
      "// import '@pasteflow/runtime';\n/*\nimport '@pasteflow/runtime';\n*/\nexport const a = 1;\n",
    );
    expect(problems()).toEqual([]);
  });
});
