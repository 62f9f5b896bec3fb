// `npm run release -- 0.1.1`: sets the version everywhere, runs npm test, commits and tags. What it tags has
// passed the tests. It pushes nothing.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const [version = '', ...more] = process.argv.slice(2);
const before = (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version;

/** The files that name the version, and what stands before it. A test of each program compares the two. */
const NAMES_OF_VERSION = [
  { files: lines('ls-files', 'package.json', '*/package.json'), prefix: '\n  "version": "' },
  { files: ['clients/cli/src/new-program.ts'], prefix: "\n    .version('" },
  { files: ['services/api/src/http/openapi/document.ts'], prefix: "\n      version: '" },
  { files: ['infra/kubernetes/chart/Chart.yaml'], prefix: '\nversion: ' },
  { files: ['infra/kubernetes/chart/Chart.yaml'], prefix: '\nappVersion: ' },
  { files: ['infra/kubernetes/manifests.yaml'], prefix: ' app.kubernetes.io/version: "' },
  { files: ['infra/kubernetes/manifests.yaml'], prefix: ' helm.sh/chart: pasteflow-' },
];

const problem = findProblem();
if (problem !== undefined) refuse(problem);
for (const { files, prefix } of NAMES_OF_VERSION)
  for (const file of files) {
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replaceAll(`${prefix}${before}`, `${prefix}${version}`));
  }
if (spawnSync('npm', ['test'], { stdio: 'inherit' }).status !== 0) {
  git('restore', '.');
  refuse('`npm test` failed, and the versions are as before: mend what it names, and commit.');
}
if (git('status', '--porcelain') !== '') git('commit', '--quiet', '--all', '--message', `Release ${version}`);
git('tag', '--annotate', `v${version}`, '--message', `Pasteflow ${version}`);
console.log(`v${version} is tagged. To publish it: git push --atomic origin main v${version}`);

function findProblem(): string | undefined {
  if (!/^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}$/.test(version) || more.length > 0)
    return 'Name one version of three numbers: npm run release -- 0.1.1';
  const branch = git('branch', '--show-current');
  if (branch !== 'main')
    return `This is the branch "${branch}", and releases are made on main: git switch main`;
  if (git('status', '--porcelain') !== '')
    return 'There are changes that are not committed: commit or discard them.';
  // A release that was interrupted between its commit and its tag is continued.
  const tagged = lines('tag', '--list', 'v*').map((tag) => tag.slice(1));
  const newest = [...tagged, before].toSorted(compare).at(-1) as string;
  if (compare(version, newest) < 0 || tagged.includes(version))
    return `${version} is not greater than ${newest}: name a greater version.`;
  const [, entry] = readFileSync('CHANGELOG.md', 'utf8').split(`\n## ${version}\n`);
  if (!entry?.split('\n## ')[0]?.trim())
    return `CHANGELOG.md has no entry "## ${version}": write what users notice, and commit.`;
  return undefined;
}

function compare(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true });
}

function git(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('git', args, { encoding: 'utf8' });
  if (status !== 0) refuse(`git ${args.join(' ')} failed: ${stderr}`);
  return stdout.trim();
}

function lines(...args: string[]): string[] {
  return git(...args)
    .split('\n')
    .filter(Boolean);
}

function refuse(reason: string): never {
  console.error(reason);
  process.exit(1);
}
