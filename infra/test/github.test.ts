import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const ACTIONLINT = 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12';

const root = new URL('../../', import.meta.url).pathname;
const github = `${root}.github`;
const workflows = readdirSync(`${github}/workflows`).map((name) => `${github}/workflows/${name}`);
const programs = new URL('../node_modules/.checks/bin/', import.meta.url).pathname;

function check(command: string, ...args: string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  return { status, output: status === 0 ? '' : stdout + stderr };
}

const passed = { status: 0, output: '' };

test.each([
  ['github-workflows', workflows],
  ['github-issue-forms', ['bug', 'idea'].map((name) => `${github}/ISSUE_TEMPLATE/${name}.yml`)],
  ['github-issue-config', [`${github}/ISSUE_TEMPLATE/config.yml`]],
  ['renovate', [`${root}renovate.json`]],
])('the files of %s are valid by their schema', (schema, files) => {
  const validate = `${programs}check-jsonschema`;
  expect(check(validate, '--builtin-schema', `vendor.${schema}`, ...files)).toEqual(passed);
});

describe('the workflows', () => {
  let work: string;
  beforeAll(() => {
    work = mkdtempSync(join(tmpdir(), 'pasteflow-workflows-'));
  });
  afterAll(() => rmSync(work, { recursive: true, force: true }));

  const zizmor = (...files: string[]) => check(`${programs}zizmor`, '--offline', '--quiet', ...files);

  test('pin each action, have only the rights that they need, and run no text of strangers', () => {
    expect(zizmor(...workflows)).toEqual(passed);
  });

  // Otherwise zizmor could have looked at nothing.
  test.each([
    ['unpinned-uses', /@[0-9a-f]{40} # v[\d.]+/, '@main'],
    ['excessive-permissions', /permissions:\n +contents: read\n +packages: write/, 'permissions: write-all'],
    ['artipacked', /^ +persist-credentials: false$/m, ''],
    ['template-injection', '"$GITHUB_REF_NAME" files/*', '${{ github.event.head_commit.message }}'],
  ])('are found by %s when they are not', (finding, good, bad) => {
    const copy = join(work, `${finding}.yml`);
    const text = readFileSync(`${github}/workflows/release.yml`, 'utf8');
    expect(text).toMatch(good);
    writeFileSync(
      copy,
      text.replace(good, () => bad),
    );
    expect(zizmor(copy).output).toContain(finding);
  });

  const go = spawnSync('go', ['version']).status === 0;
  (go ? test : test.skip)('have no error that actionlint finds', () => {
    expect(check('go', 'run', ACTIONLINT, ...workflows)).toEqual(passed);
  });
});
