import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { startCluster, type Cluster, type User } from '../src/index.ts';
import { findNode, PackedCli, type CliOptions } from './support/packed-cli.ts';

jest.setTimeout(240_000); // on a busy machine a process takes seconds to start

const execute = promisify(execFile);
const node20 = findNode(20);

let cluster: Cluster;
let alice: User;
let cli: PackedCli;
let folder: string;
beforeAll(async () => {
  [cluster, cli] = await Promise.all([startCluster(), PackedCli.install()]);
  alice = await cluster.user('alice');
});
beforeEach(async () => {
  folder = await mkdtemp(join(cli.folder, 'test-'));
});
afterAll(async () => {
  await cluster?.stop();
  await cli?.remove();
});

const port = () => Number(cluster.apis[0]!.env.API_PORT);
const options = (more: Partial<CliOptions> = {}): CliOptions => ({
  server: `http://127.0.0.1:${port()}`,
  cwd: folder,
  ...more,
});
const run = (args: readonly string[], more: Partial<CliOptions> = {}) => cli.run(args, options(more));
const asAlice = (args: readonly string[], more: Partial<CliOptions> = {}) =>
  run(args, { token: alice.token, ...more });

const codeOf = (url: string) => url.trim().split('/').at(-1)!;

describe.each([
  ['the Node of this repository', process.execPath],
  ['Node 20', node20],
])('pasteflow from its tarball, with %s', (_name, node) => {
  const test = node === undefined ? it.skip : it;
  const using = node === undefined ? {} : { node };

  test('puts, shows, lists and deletes a paste, and tells what happened to it', async () => {
    const content = randomBytes(50_000);
    const put = await asAlice(['put', '--title', 'From a terminal', '--wait'], { stdin: content, ...using });
    expect(put).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^http:\S+\n$/) });
    const code = codeOf(put.stdout);
    const file = join(folder, 'copy');
    expect(await asAlice(['cat', put.stdout.trim(), '-o', file], using)).toMatchObject({
      code: 0,
      stderr: '',
    });
    expect((await readFile(file)).equals(content)).toBe(true);
    expect((await asAlice(['ls'], using)).stdout).toMatch(new RegExp(`^${code} .*From a terminal$`, 'm'));
    expect((await asAlice(['timeline', code], using)).stdout).toMatch(
      /paste_upload {2}IN_PROGRESS → PROCESSED {2}worker/,
    );
    expect((await asAlice(['watch', code], using)).stdout).toMatch(/end {2}PROCESSED\n$/);
    expect(await asAlice(['rm', code], using)).toMatchObject({ code: 0, stdout: '', stderr: '' });
    expect(await asAlice(['cat', code], using)).toMatchObject({ code: 1, stdout: '' });
  });

  test('puts several files as one paste, also encrypted, prints one and saves all into a folder', async () => {
    const files = {
      'src/ä.py': Buffer.from('print(1)\n'),
      'b.bin': randomBytes(1000),
      empty: Buffer.alloc(0),
    };
    await mkdir(join(folder, 'src'));
    for (const [name, bytes] of Object.entries(files)) await writeFile(join(folder, name), bytes);
    for (const encryption of [[], ['--encrypt']]) {
      const put = await asAlice(['put', '--wait', ...encryption, ...Object.keys(files)], using);
      expect(put).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^http:\S+\n$/) });
      const url = put.stdout.trim();
      expect((await asAlice(['cat', url, '-f', 'src/ä.py'], using)).stdout).toBe('print(1)\n');
      const saved = `saved${encryption.length}/`;
      expect((await asAlice(['cat', url, '-o', saved], using)).stderr).toBe(`3 files are in ${saved}\n`);
      for (const [name, bytes] of Object.entries(files))
        expect((await readFile(join(folder, saved, name))).equals(bytes)).toBe(true);
    }
  });

  test('keeps the delete token of an anonymous paste', async () => {
    const { stdout } = await run(['put'], { stdin: 'anonymous', ...using });
    expect(await run(['rm', codeOf(stdout)], using)).toMatchObject({ code: 0 });
    expect((await run(['cat', codeOf(stdout)], using)).code).toBe(1);
  });
});

describe('pasteflow', () => {
  it('runs by npx from the tarball, and has no dependencies', async () => {
    const args = ['exec', '--yes', '--offline', `--package=${cli.tarball}`, '--', 'pasteflow', '--version'];
    const env = { ...process.env, HOME: folder, npm_config_cache: join(folder, 'cache') };
    const { stdout } = await execute('npm', args, { cwd: folder, env });
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it('imports and exports, with the URLs and the name of the file on stdout', async () => {
    const bob = await cluster.user('bob');
    const lines = ['one', 'two', 'three'].map((content) => JSON.stringify({ content, title: content }));
    await writeFile(join(folder, 'notes.ndjson'), `${lines.join('\n')}\n`);
    const imported = await run(['import', 'notes.ndjson'], { token: bob.token });
    expect(imported).toMatchObject({ code: 0, stderr: '' });
    const urls = imported.stdout.trim().split('\n');
    const contents = await Promise.all(urls.map((url) => run(['cat', url], { token: bob.token })));
    expect(contents.map(({ stdout }) => stdout).toSorted()).toEqual(['one', 'three', 'two']);
    const exported = await run(['export', '--format', 'ndjson', '-o', 'mine.ndjson'], { token: bob.token });
    expect(exported).toMatchObject({ code: 0, stdout: 'mine.ndjson\n', stderr: '' });
    const archive = (await readFile(join(folder, 'mine.ndjson'), 'utf8')).trim().split('\n');
    expect(archive).toHaveLength(3);
    expect((await readdir(folder)).toSorted()).toEqual(['mine.ndjson', 'notes.ndjson']);
  });

  it('ends an import with cancel, from another terminal', async () => {
    const carol = await cluster.user('carol');
    await writeFile(join(folder, 'x.ndjson'), '{"content":"x"}\n');
    const reading = cluster.s3.hold({ method: 'GET' });
    const { ended } = cli.start(['import', 'x.ndjson'], options({ token: carol.token }));
    const held = await reading; // the worker runs the job
    // On a busy machine the held read times out before the cancel. A read that succeeded then would complete
    // the job.
    const restore = cluster.s3.rule({ method: 'GET' }, { kind: 'fail', status: 503 });
    const [job] = (await carol.jobs.list().page()).items;
    expect(await run(['cancel', job!.id], { token: carol.token })).toMatchObject({
      code: 0,
      stdout: 'failed\n',
      stderr: '',
    });
    const { code, stdout, stderr } = await ended;
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('cancelled by its owner');
    restore();
    held.drop();
    expect((await carol.pastes.list().page()).items).toEqual([]);
  });

  it('logs in with a token from stdin, which later commands use', async () => {
    expect(await run(['login'], { stdin: `${alice.token}\n` })).toMatchObject({ code: 0, stdout: '' });
    const { stdout } = await run(['put', '--private', '--json'], { stdin: 'mine' });
    expect(JSON.parse(stdout)).toMatchObject({ visibility: 'private' });
    expect(await run(['logout'])).toMatchObject({ code: 0 });
    expect(await run(['ls'])).toMatchObject({ code: 1, stderr: expect.stringContaining('pasteflow login') });
  });
});
