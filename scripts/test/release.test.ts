import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

const root = new URL('../../', import.meta.url).pathname;
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { version: string };
const [major = '', minor = '', patch = ''] = version.split('.');
const next = `${major}.${minor}.${Number(patch) + 1}`;

let folder: string;
let start: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'pasteflow-release-'));
  git('init', '--quiet', '--initial-branch=main');
  const files = execFileSync(
    'git',
    ['ls-files', '--cached', '--others', '--exclude-standard', '-z', '*package.json', ...NAMING],
    {
      cwd: root,
      encoding: 'utf8',
    },
  );
  for (const file of files.split('\0').filter(Boolean))
    execFileSync('cp', ['--parents', file, folder], { cwd: root });
  git('config', 'user.name', 'Test');
  git('config', 'user.email', 'test@example.org');
  git('config', 'commit.gpgsign', 'false');
  change('package.json', (text) => text.replace(/"test": ".*"/, '"test": "./passes"'));
  writeFileSync(join(folder, 'passes'), '#!/bin/sh\nexit 0\n', { mode: 0o755 });
  change('CHANGELOG.md', (text) => text.replace('\n## ', `\n## ${next}\n\n- A line.\n\n## `));
  commit('start');
  start = git('rev-parse', 'HEAD');
});
beforeEach(() => {
  for (const tag of git('tag', '--list').split('\n').filter(Boolean)) git('tag', '--delete', tag);
  git('switch', '--quiet', '--force', 'main');
  git('reset', '--quiet', '--hard', start);
  git('clean', '--quiet', '-fd');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const NAMING = [
  'CHANGELOG.md',
  'scripts/release.ts',
  'clients/cli/src/new-program.ts',
  'services/api/src/http/openapi/document.ts',
  'infra/kubernetes/chart/Chart.yaml',
  'infra/kubernetes/manifests.yaml',
];

function git(...args: string[]): string {
  return execFileSync('git', args, {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();
}

function change(file: string, edit: (text: string) => string): void {
  const path = join(folder, file);
  const text = readFileSync(path, 'utf8');
  expect(edit(text)).not.toBe(text);
  writeFileSync(path, edit(text));
}

function commit(message: string): void {
  git('add', '--all');
  git('commit', '--quiet', '--message', message);
}

function release(...args: string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(folder, 'scripts/release.ts'), ...args],
    {
      encoding: 'utf8',
    },
  );
  return { status, output: stdout + stderr };
}

describe('a release', () => {
  it('sets the version wherever it is named, commits, and tags', () => {
    expect(release(next)).toMatchObject({ status: 0 });
    expect(git('status', '--porcelain')).toBe('');
    expect(git('log', '-1', '--format=%s %D')).toBe(`Release ${next} HEAD -> main, tag: v${next}`);
    const changed = git('diff', '--name-only', start).split('\n');
    expect(changed).toEqual(
      expect.arrayContaining(['package.json', 'services/api/package.json', ...NAMING.slice(2)]),
    );
    for (const file of changed) {
      const text = readFileSync(join(folder, file), 'utf8');
      expect([file, text]).toEqual([file, expect.stringContaining(next)]);
      expect([file, text.match(new RegExp(`["' ]${version}["'\\s]`))]).toEqual([file, null]);
    }
    expect(git('grep', '--files-with-matches', `"version": "${next}"`).split('\n')).toEqual(
      git('grep', '--files-with-matches', '^  "version": ').split('\n'),
    );
  });

  it('tags the version of the tree when it has no tag, as after an interruption, and not twice', () => {
    expect(release(next)).toMatchObject({ status: 0 });
    git('tag', '--delete', `v${next}`);
    expect(release(next)).toMatchObject({ status: 0 });
    expect(git('rev-list', '--count', `${start}..v${next}`)).toBe('1');
    expect(release(next)).toMatchObject({ status: 1, output: expect.stringContaining('is not greater') });
  });

  it.each([[[]], [['v9.9.9']], [['9.9']], [['9.9.9-rc.1']], [['09.9.9']], [['9.9.9', '9.9.10']]])(
    'is refused for the arguments %j',
    (args) => {
      expectRefusal(args, 'Name one version');
    },
  );

  it('is refused on another branch', () => {
    git('switch', '--quiet', '--create', `branch-${Date.now()}`);
    expectRefusal([next], 'releases are made on main');
  });

  it('is refused while a change or a new file is not committed', () => {
    writeFileSync(join(folder, 'new'), '');
    expectRefusal([next], 'not committed');
    git('clean', '--quiet', '-fd');
    change('CHANGELOG.md', (text) => `${text}\n`);
    expectRefusal([next], 'not committed');
  });

  it('is refused for a version that is less than that of the tree or a tag, by their numbers', () => {
    expectRefusal(['0.0.999'], 'is not greater');
    git('tag', `v${major}.${minor}.1000`);
    expectRefusal([`${major}.${minor}.999`], `is not greater than ${major}.${minor}.1000`);
  });

  it('is refused without an entry in the changelog, or with an empty one', () => {
    expectRefusal(['99.0.0'], 'has no entry "## 99.0.0"');
    change('CHANGELOG.md', (text) => text.replace(`## ${next}`, `## 99.0.0\n\n\n## ${next}`));
    commit('an empty entry');
    expectRefusal(['99.0.0'], 'has no entry "## 99.0.0"');
  });

  it('is refused when the tests fail, and changes nothing', () => {
    change('package.json', (text) => text.replace('./passes', `! grep -q ${next} package.json`));
    commit('tests that fail for the new version');
    expectRefusal([next], '`npm test` failed');
  });
});

function expectRefusal(args: readonly string[], reason: string): void {
  const before = [git('rev-parse', 'HEAD'), git('status', '--porcelain'), git('tag', '--list')];
  expect(release(...args)).toMatchObject({ status: 1, output: expect.stringContaining(reason) });
  expect([git('rev-parse', 'HEAD'), git('status', '--porcelain'), git('tag', '--list')]).toEqual(before);
}
