import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, open, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { SmallDisk } from '../src/disks.ts';
import { startCluster, type Cluster } from '../src/index.ts';
import { startCuttingProxy } from './support/cutting-proxy.ts';
import { BuiltCli, NOTHING_BUT_WAITS } from './support/packed-cli.ts';

jest.setTimeout(240_000); // on a busy machine a process takes seconds to start

const MIB = 1_048_576;

let cluster: Cluster;
let cli: BuiltCli;
let home: string;
beforeAll(async () => {
  [cluster, cli] = await Promise.all([startCluster(), BuiltCli.build()]);
});
beforeEach(async () => {
  home = await mkdtemp(join(cli.folder, 'home-'));
});
afterAll(async () => {
  await cluster?.stop();
  await cli?.remove();
});

const port = () => Number(cluster.apis[0]!.env.API_PORT);

async function secret(content: Buffer): Promise<string> {
  const { short_code: code } = await cluster.client().pastes.create(content, { burn: true, wait: true });
  return code;
}

interface Start {
  readonly stdio?: StdioOptions;
  readonly server?: string;
  readonly home?: string;
}

function start(args: readonly string[], options: Start = {}): ChildProcess {
  const { stdio = ['ignore', 'pipe', 'pipe'], server = `http://127.0.0.1:${port()}` } = options;
  return spawn(process.execPath, [cli.program, 'cat', ...args], {
    stdio,
    env: cli.environment({ server, home: options.home ?? home }),
  });
}

/** @returns the exit code, or the signal, and what was said on stderr */
async function ended(child: ChildProcess): Promise<[unknown, string]> {
  const [[code, signal], stderr] = await Promise.all([once(child, 'close'), text(child.stderr!)]);
  return [code ?? signal, stderr];
}

/** Before the content is fetched. */
const TOLD = 'Whoever made this paste will see that it was fetched.\n';
const TOLD_AND_WAITS = new RegExp(NOTHING_BUT_WAITS.source.replace('^', `^${TOLD}`));

const folder = () => join(home, '.local/state/pasteflow/revealed');
const kept = async () =>
  (await readdir(folder()).catch(() => [])).map((name) => join(folder(), name)).toSorted();
const isRevealed = async (code: string) =>
  (await cluster.http().request(`/v1/pastes/${code}`)).status === 410;

describe('pasteflow cat --reveal', () => {
  it('leaves no file when everything has reached its reader', async () => {
    const content = randomBytes(MIB);
    const copy = join(home, 'copy');
    expect(await ended(start(['--reveal', await secret(content), '-o', copy]))).toEqual([0, TOLD]);
    expect((await readFile(copy)).equals(content)).toBe(true);
    expect(await kept()).toEqual([]);
  });

  it('keeps the content when the reader of stdout is gone, and says where', async () => {
    const content = randomBytes(MIB);
    const child = start(['--reveal', await secret(content)]);
    child.stdout!.destroy();
    const [code, stderr] = await ended(child);
    const [path] = await kept();
    expect([code, stderr]).toEqual([1, expect.stringContaining(`Its content is in ${path}`)]);
    expect(stderr).not.toContain('EPIPE');
    expect((await readFile(path!)).equals(content)).toBe(true);
  });

  it('keeps the content when it is killed before stdout has taken it', async () => {
    const content = randomBytes(MIB);
    const child = start(['--reveal', await secret(content)]); // nobody reads its stdout
    await cluster.until(kept, (paths) => paths.length === 1 && !paths[0]!.endsWith('.part'));
    child.kill('SIGKILL');
    await once(child, 'exit');
    child.stdout!.destroy();
    child.stderr!.destroy();
    const [path] = await kept();
    expect((await readFile(path!)).equals(content)).toBe(true);
    expect((await stat(path!)).mode & 0o777).toBe(0o600);
  });

  it('keeps what has arrived when it is killed in the middle', async () => {
    const content = randomBytes(2 * MIB);
    const code = await secret(content);
    const proxy = await startCuttingProxy(port(), MIB, 'stall');
    try {
      const child = start(['--reveal', code], { server: proxy.url });
      await cluster.until(async () => {
        const [path] = await kept();
        return (
          path !== undefined &&
          content.subarray(0, 500_000).equals((await readFile(path)).subarray(0, 500_000))
        );
      });
      child.kill('SIGKILL');
      await ended(child);
      const [path] = await kept();
      expect(path).toMatch(/\.part$/);
      expect((await readFile(path!)).subarray(0, 500_000).equals(content.subarray(0, 500_000))).toBe(true);
    } finally {
      await proxy.stop();
    }
  });

  it('prints the content when the api is killed before its answer and starts again', async () => {
    const code = await secret(Buffer.from('the secret'));
    const holding = cluster.s3.hold({ method: 'GET', path: cluster.objectPath(code) });
    const child = start(['--reveal', code]);
    const done = Promise.all([ended(child), text(child.stdout!)]);
    const held = await holding;
    await cluster.apis[0]!.kill();
    held.drop();
    await cluster.apis[0]!.start();
    expect(await done).toEqual([[0, expect.stringMatching(TOLD_AND_WAITS)], 'the secret']);
    expect(await isRevealed(code)).toBe(true);
    expect(await kept()).toEqual([]);
  });
});

describe('on a disk that is full', () => {
  let disk: SmallDisk | null;
  beforeAll(async () => {
    disk = await SmallDisk.mount(1);
  });
  afterAll(() => disk?.unmount());
  const mounted = (): SmallDisk => {
    if (disk === null) throw new Error('no file system can be mounted here');
    return disk;
  };
  const canMount = process.getuid?.() === 0 && process.platform === 'linux';
  const test = canMount ? it : it.skip;

  test('pasteflow cat --reveal reveals nothing', async () => {
    const code = await secret(randomBytes(2 * MIB));
    const child = start(['--reveal', code], { home: mounted().folder });
    expect(await ended(child)).toEqual([1, `${TOLD}pasteflow: The disk is full.\n`]);
    expect(await isRevealed(code)).toBe(false);
    expect(await readdir(join(mounted().folder, '.local/state/pasteflow/revealed'))).toEqual([]);
  });

  test.each([
    ['with the end of the content missing', 2 * MIB],
    ['with no more than the last bytes missing', MIB + 4096],
  ])('pasteflow cat fails, and a revealed content is kept: %s', async (_name, size) => {
    const content = randomBytes(size);
    const code = await secret(content);
    const plain = await cluster.client().pastes.create(content, { wait: true });
    for (const args of [[plain.short_code], ['--reveal', code]]) {
      const file = await open(join(mounted().folder, 'copy'), 'w');
      const [exit, stderr] = await ended(start(args, { stdio: ['ignore', file.fd, 'pipe'] }));
      await file.close();
      expect([exit, stderr]).toEqual([1, expect.stringContaining('ENOSPC')]);
    }
    const [path] = await kept();
    expect((await readFile(path!)).equals(content)).toBe(true);
  });
});
