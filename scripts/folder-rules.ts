// The order of the folders within a package. Each rule returns one sentence for each violation.
import { resolveRelative, type Workspace } from './workspace.ts';

/**
 * From the top to the bottom: a file in a folder of src/ imports from its own folder and from folders to the
 * right of it. Every folder of the package is listed. Files beside the folders have no place of their own:
 * such a file stands above every folder that it imports from, itself or through another such file.
 */
export const folderOrders: Readonly<Record<string, string>> = {
  'clients/cli': 'commands sealed settings files terminal',
  'packages/dev-stack': 'testing commands start aws postgres',
  'proofs/e2e': 'campaign soak bench',
  'packages/http-kit': 'sign-in',
  'packages/jobs': 'own types',
  'packages/postgres':
    'testing roles enforcement monitoring timeline sweeps secret-requests webhooks jobs pastes executions identity requests ' +
    'migrations database schema',
  'proofs/interleavings': 'operations harness',
  'packages/runtime': 'entry health tracing logging config',
  'packages/service-kit': 'command-line webhooks',
  'packages/web': 'operations pages timeline content html words',
  'services/api':
    'private-bin docs diffs slugs reports secret-requests webhooks pastes jobs tokens sessions account storage live http',
  'services/janitor': 'operations metrics sweeps',
  'services/upload-worker': 'webhooks jobs uploads executions',
};

export function folderViolations(workspaces: Workspace[], orders = folderOrders): string[] {
  return workspaces.flatMap((workspace) => {
    const order = orders[workspace.folder]?.split(' ') ?? [];
    const edges = relativeImports(workspace);
    const present = new Set(
      [...edges.keys()].map((path) => folderOf(workspace, path)).filter((name) => name !== undefined),
    );
    const unlisted = [...present].filter((name) => !order.includes(name));
    if (unlisted.length > 0)
      return unlisted.map(
        (name) => `${workspace.folder}/src/${name} has no place in scripts/folder-rules.ts`,
      );
    const gone = order.filter((name) => !present.has(name));
    return [
      ...gone.map((name) => `${workspace.folder}/src/${name} is in scripts/folder-rules.ts and has no file`),
      ...upwardImports(workspace, order, edges),
    ];
  });
}

function upwardImports(workspace: Workspace, order: readonly string[], edges: Edges): string[] {
  const found: string[] = [];
  for (const [path, targets] of edges) {
    const folder = folderOf(workspace, path);
    if (folder === undefined) continue;
    for (const target of targets.filter((each) => folderOf(workspace, each) !== folder)) {
      if (heightOf(workspace, order, edges, target) >= height(order, folder))
        found.push(`${path}: '${target}' is above ${folder}/ (scripts/folder-rules.ts)`);
    }
  }
  return found;
}

type Edges = ReadonlyMap<string, readonly string[]>;

/** Each source file with the files that it imports by a relative path. */
function relativeImports(workspace: Workspace): Edges {
  const sources = workspace.files.filter(({ kind }) => kind === 'src');
  return new Map(
    sources.map(({ path, imports }) => [
      path,
      imports
        .filter(({ specifier }) => specifier.startsWith('.'))
        .map(({ specifier }) => resolveRelative(path, specifier)),
    ]),
  );
}

/** Undefined for a file beside the folders. */
function folderOf({ folder }: Workspace, path: string): string | undefined {
  const [name, ...rest] = path.slice(`${folder}/src/`.length).split('/');
  return rest.length > 0 ? name : undefined;
}

/** 1 for the lowest folder. */
function height(order: readonly string[], folder: string): number {
  return order.length - order.indexOf(folder);
}

/**
 * A file's folder's; for a file beside the folders that of the highest folder that it imports from, 0 if
 * there is none.
 */
function heightOf(
  workspace: Workspace,
  order: readonly string[],
  edges: Edges,
  path: string,
  visited: ReadonlySet<string> = new Set(),
): number {
  const folder = folderOf(workspace, path);
  if (folder !== undefined) return height(order, folder);
  if (visited.has(path)) return 0;
  const targets = edges.get(path) ?? [];
  const seen = new Set([...visited, path]);
  return Math.max(0, ...targets.map((target) => heightOf(workspace, order, edges, target, seen)));
}
