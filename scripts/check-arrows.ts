// `npm run arrows`: checks which package and which folder imports which. No kept tool does this with
// TypeScript 7: dependency-cruiser 18 reads TypeScript up to version 6, and turbo boundaries treats tests
// like sources and knows neither folders nor project references. Import cycles are the linter's
// (import/no-cycle), unused exports knip's.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { violations } from './arrow-rules.ts';
import { folderViolations } from './folder-rules.ts';
import { readWorkspaces, root } from './workspace.ts';

// Another root can be named, to try the rules on it.
const base = resolve(process.argv[2] ?? root);
const manifest = JSON.parse(readFileSync(join(base, 'package.json'), 'utf8')) as {
  devDependencies: Record<string, string>;
};
const workspaces = readWorkspaces(base);
const problems = [
  ...violations(workspaces, Object.keys(manifest.devDependencies)),
  ...folderViolations(workspaces),
];

for (const problem of problems) console.error(problem);
if (problems.length > 0) {
  console.error(`\n${problems.length} violations of the import arrows; docs/architecture.md draws them.`);
  process.exitCode = 1;
} else {
  const files = workspaces.reduce((sum, workspace) => sum + workspace.files.length, 0);
  console.log(`${files} files in ${workspaces.length} packages keep to the import arrows`);
}
