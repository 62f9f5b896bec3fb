import { resolveRelative, type Workspace } from './workspace.ts';

/** Circles of relative imports between files, each once, as `a.ts → b.ts → a.ts`. Type-only imports count. */
export function importCycles(workspaces: Workspace[]): string[] {
  const files = workspaces.flatMap((workspace) => workspace.files);
  const edges = new Map(
    files.map((file) => [
      file.path,
      file.imports
        .filter(({ specifier }) => specifier.startsWith('.'))
        .map(({ specifier }) => resolveRelative(file.path, specifier)),
    ]),
  );
  const finished = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, trail: string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) {
      cycles.push([...trail.slice(start), path].join(' → '));
      return;
    }
    if (finished.has(path)) return;
    for (const next of edges.get(path) ?? []) visit(next, [...trail, path]);
    finished.add(path);
  };
  for (const path of edges.keys()) visit(path, []);
  return cycles;
}
