// `npm run arrows`: the import arrows hold in the sources, in every package.json and in every tsconfig.json.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { violations } from './arrow-rules.ts';
import { importCycles } from './import-cycles.ts';
import { readWorkspaces, root } from './workspace.ts';

// Another root can be named, to check that the rules bite.
const base = resolve(process.argv[2] ?? root);
const manifest = JSON.parse(readFileSync(join(base, 'package.json'), 'utf8')) as {
  devDependencies: Record<string, string>;
};
const workspaces = readWorkspaces(base);
const problems = [
  ...violations(workspaces, Object.keys(manifest.devDependencies)),
  ...importCycles(workspaces).map((cycle) => `import cycle: ${cycle}`),
];

for (const problem of problems) console.error(problem);
if (problems.length > 0) {
  console.error(`\n${problems.length} violations of the import arrows; docs/architecture.md draws them.`);
  process.exitCode = 1;
} else {
  const files = workspaces.reduce((sum, workspace) => sum + workspace.files.length, 0);
  console.log(`${files} files in ${workspaces.length} packages keep to the import arrows`);
}
