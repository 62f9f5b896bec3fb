// The import arrows of docs/architecture.md. Each rule returns one sentence for each violation.
import { isBuiltin } from 'node:module';
import { computedImport, resolveRelative, type SourceFile, type Workspace } from './workspace.ts';

const scope = '@pasteflow/';
const adapters = ['@pasteflow/postgres', '@pasteflow/sqs', '@pasteflow/s3', '@pasteflow/runtime'];
/** What services share above the adapters. */
const shared = ['@pasteflow/domain', '@pasteflow/sealed', '@pasteflow/service-kit', '@pasteflow/jobs'];
const services = ['@pasteflow/api', '@pasteflow/upload-worker', '@pasteflow/janitor'];
const examples = ['@pasteflow/example-pattern'];

/**
 * What the sources of each package may import from the workspace. A package that isn't listed may not exist.
 */
const allowed: Record<string, string[]> = {
  '@pasteflow/domain': [],
  '@pasteflow/dev-stack': [],
  '@pasteflow/client': [],
  '@pasteflow/sealed': [],
  '@pasteflow/web': ['@pasteflow/domain', '@pasteflow/sealed'],
  '@pasteflow/cli': ['@pasteflow/client', '@pasteflow/domain', '@pasteflow/sealed'],
  '@pasteflow/e2e': [
    '@pasteflow/client',
    '@pasteflow/dev-stack',
    '@pasteflow/domain',
    '@pasteflow/protocol',
    '@pasteflow/s3',
  ],
  '@pasteflow/protocol': ['@pasteflow/domain'],
  '@pasteflow/interleavings': ['@pasteflow/dev-stack', '@pasteflow/domain', '@pasteflow/postgres'],
  '@pasteflow/http-kit': ['@pasteflow/domain', '@pasteflow/runtime'],
  '@pasteflow/service-kit': ['@pasteflow/domain', '@pasteflow/sealed', ...adapters],
  '@pasteflow/job': [],
  '@pasteflow/jobs': ['@pasteflow/domain', '@pasteflow/job', '@pasteflow/service-kit', ...adapters],
  ...Object.fromEntries(examples.map((name) => [name, [...shared, ...adapters, ...services]])),
  ...Object.fromEntries(adapters.map((name) => [name, ['@pasteflow/domain']])),
  '@pasteflow/signed-requests': [],
  '@pasteflow/s3': ['@pasteflow/domain', '@pasteflow/signed-requests'],
  '@pasteflow/sqs': ['@pasteflow/domain', '@pasteflow/runtime', '@pasteflow/signed-requests'],
  ...Object.fromEntries(services.map((name) => [name, [...shared, ...adapters, '@pasteflow/web']])),
  '@pasteflow/janitor': [...shared, ...adapters, '@pasteflow/http-kit', '@pasteflow/web'],
  '@pasteflow/api': [...shared, ...adapters, '@pasteflow/http-kit', '@pasteflow/web', '@pasteflow/cli'],
};

/**
 * Where a computed import() is right: the name of the package with Postgres' binaries contains the platform,
 * dev-stack, which imports nothing of the workspace, becomes the entry of a service by its path, and job types of an
 * operator's own come from a file that a setting names.
 */
const computedImports = [
  'packages/dev-stack/src/postgres/binaries.ts',
  'packages/dev-stack/src/command-main.ts',
  'packages/jobs/src/own/load-job-types.ts',
];

/**
 * Tests may also stand on the embedded stack, save where that would make a circle or a dependency of the
 * domain.
 */
function allowedInTests(name: string): string[] {
  const inSources = allowed[name] ?? [];
  if (name === '@pasteflow/protocol') return [...inSources, '@pasteflow/postgres', '@pasteflow/dev-stack'];
  return [...adapters, ...services, ...examples, '@pasteflow/jobs', '@pasteflow/service-kit'].includes(name)
    ? [...inSources, '@pasteflow/dev-stack']
    : inSources;
}

export function violations(workspaces: Workspace[], rootDevDependencies: string[]): string[] {
  return workspaces.flatMap((workspace) => {
    if (allowed[workspace.name] === undefined) {
      return [`${workspace.folder}: ${workspace.name} has no place in scripts/arrow-rules.ts`];
    }
    return [
      ...workspace.files.flatMap((file) => fileViolations(workspace, file, workspaces, rootDevDependencies)),
      ...manifestViolations(workspace, workspaces),
    ];
  });
}

function fileViolations(
  workspace: Workspace,
  file: SourceFile,
  workspaces: Workspace[],
  rootDevDependencies: string[],
): string[] {
  const found: string[] = [];
  const checked = file.kind === 'src' && !computedImports.includes(file.path);
  const computed = checked ? computedImport(file.text) : undefined;
  if (computed !== undefined) found.push(`${file.path}:${computed}: a computed import() can't be checked`);
  for (const { specifier, line } of file.imports) {
    const reason = specifier.startsWith('.')
      ? relativeImport(workspace, file, specifier)
      : packageImport(workspace, file, specifier, workspaces, rootDevDependencies);
    if (reason !== undefined) found.push(`${file.path}:${line}: '${specifier}': ${reason}`);
  }
  return found;
}

function relativeImport(workspace: Workspace, file: SourceFile, specifier: string): string | undefined {
  const target = resolveRelative(file.path, specifier);
  if (!target.startsWith(`${workspace.folder}/`)) return 'leaves the package; import its declared exports';
  if (file.kind === 'src' && !target.startsWith(`${workspace.folder}/src/`)) return 'leaves src/';
  return undefined;
}

function packageImport(
  workspace: Workspace,
  file: SourceFile,
  specifier: string,
  workspaces: Workspace[],
  rootDevDependencies: string[],
): string | undefined {
  const inSources = file.kind === 'src';
  if (inSources && workspace.name === '@pasteflow/domain') return 'the domain imports nothing';
  if (isBuiltin(specifier)) {
    return specifier.startsWith('node:') ? undefined : "write it with 'node:'";
  }
  const name = packageName(specifier);
  const declared = inSources
    ? workspace.dependencies
    : [...workspace.dependencies, ...workspace.devDependencies, ...rootDevDependencies];
  if (name.startsWith(scope) && name !== workspace.name) {
    const arrows = inSources ? (allowed[workspace.name] ?? []) : allowedInTests(workspace.name);
    if (!arrows.includes(name)) return `${workspace.name} may not import ${name}`;
    const subpath = `.${specifier.slice(name.length)}`;
    if (!workspaces.find((other) => other.name === name)?.exports.includes(subpath)) {
      return `not among the exports of ${name}`;
    }
    const folder = workspaces.find((other) => other.name === name)?.folder ?? '';
    if (inSources && !workspace.references.includes(folder)) {
      return `${folder} is missing in the references of ${workspace.folder}/tsconfig.json`;
    }
  }
  if (!declared.includes(name)) {
    const where = inSources ? 'dependencies' : 'dependencies and devDependencies';
    return `missing in the ${where} of ${workspace.folder}/package.json`;
  }
  return undefined;
}

/** The reverse: what package.json and tsconfig.json declare is allowed, and used. */
function manifestViolations(workspace: Workspace, workspaces: Workspace[]): string[] {
  const found: string[] = [];
  const arrows = allowed[workspace.name] ?? [];
  const imported = (kind: SourceFile['kind'], name: string): boolean =>
    workspace.files.some(
      (file) => file.kind === kind && file.imports.some(({ specifier }) => packageName(specifier) === name),
    );
  // A dependency may also be named without being imported: import.meta.resolve of a binary, a template's
  // text.
  const named = (name: string): boolean =>
    workspace.files.some((file) => file.kind === 'src' && file.text.includes(`'${name}`));
  for (const name of workspace.dependencies) {
    if (name.startsWith(scope) && !arrows.includes(name)) {
      found.push(`${workspace.folder}/package.json: may not depend on ${name}`);
    } else if (name.startsWith(scope) ? !imported('src', name) : !named(name)) {
      found.push(`${workspace.folder}/package.json: src/ doesn't use the dependency ${name}`);
    }
  }
  for (const name of workspace.devDependencies.filter((each) => each.startsWith(scope))) {
    if (!imported('test', name)) {
      found.push(`${workspace.folder}/package.json: test/ doesn't use the devDependency ${name}`);
    }
  }
  for (const folder of workspace.references) {
    const name = workspaces.find((other) => other.folder === folder)?.name;
    if (name === undefined || !imported('src', name)) {
      found.push(`${workspace.folder}/tsconfig.json: src/ doesn't use the reference ${folder}`);
    }
  }
  return found;
}

function packageName(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
