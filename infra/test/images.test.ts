import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { IgnoreStrategy } from 'aws-cdk-lib';

const root = new URL('../../', import.meta.url).pathname;
const dockerfile = readFileSync(`${root}Dockerfile`, 'utf8');
const work = mkdtempSync(join(tmpdir(), 'pasteflow-images-'));
const out = join(work, 'out');
afterAll(() => rmSync(work, { recursive: true, force: true }));

/** Does what the stage `build` of the Dockerfile says, without Docker: COPY and RUN in a folder that is empty. */
beforeAll(() => {
  const folder = join(work, 'build');
  const context = filesOfContext();
  const [, stage = ''] = /^FROM \S+ \S+ AS build$([^]+?)^FROM /m.exec(dockerfile) ?? [];
  for (const [, instruction, rest = ''] of stage.matchAll(/^([A-Z]+) (.+)$/gm)) {
    if (instruction === 'RUN') run(rest, folder);
    if (instruction === 'COPY') copy(context, rest.split(' '), folder);
  }
}, 900_000);

function filesOfContext(): string[] {
  const git = ['ls-files', '--cached', '--others', '--exclude-standard'];
  const files = execFileSync('git', git, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean);
  const ignore = IgnoreStrategy.docker(root, readFileSync(`${root}.dockerignore`, 'utf8').split('\n'));
  return files.filter((file) => existsSync(root + file) && !ignore.ignores(root + file));
}

function copy(context: readonly string[], names: readonly string[], folder: string): void {
  const target = names.at(-1) ?? '';
  for (const source of names.slice(0, -1)) {
    const files = context.filter(
      (file) => source === '.' || file === source || file.startsWith(`${source}/`),
    );
    expect([source, files]).not.toEqual([source, []]);
    expect(['.', './', source]).toContain(target); // each file keeps its path
    for (const file of files) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      cpSync(root + file, join(folder, file));
    }
  }
}

function run(command: string, folder: string): void {
  const { status, stdout, stderr } = spawnSync('sh', ['-c', command.replaceAll('/out', out)], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      ...process.env,
      PATH: `${join(work, 'global/bin')}:${process.env['PATH']}`,
      npm_config_prefix: join(work, 'global'),
      CI: 'true',
    },
  });
  expect({ command, status, output: status === 0 ? '' : stdout + stderr }).toEqual({
    command,
    status: 0,
    output: '',
  });
}

test.each([
  ['api', 'main'],
  ['upload-worker', 'main'],
  ['janitor', 'main'],
  ['postgres', 'migrate-main'],
])('%s finds its modules, and then misses only its settings', (name, entry) => {
  const { status, stderr } = spawnSync(process.execPath, [`${out}/${name}/dist/${entry}.js`], {
    env: {},
    encoding: 'utf8',
  });
  expect(stderr).toContain('DATABASE_URL');
  expect(status).toBe(78);
});

test('what the other stages copy is there', () => {
  const copied = [...dockerfile.matchAll(/^COPY --from=build \/out\/(\S+) /gm)].map(([, name = '']) => name);
  expect(copied.toSorted()).toEqual(readdirSync(out).toSorted());
  const context = filesOfContext();
  for (const [, path] of dockerfile.matchAll(/^COPY (infra\S+) /gm))
    expect(context.some((file) => file.startsWith(path ?? ''))).toBe(true);
});

// The image for arm64 gets what was built on amd64.
test('no module is for one architecture', () => {
  const files = readdirSync(out, { recursive: true, encoding: 'utf8' });
  expect(files.length).toBeGreaterThan(1000);
  expect(files.filter((file) => file.endsWith('.node'))).toEqual([]);
});
