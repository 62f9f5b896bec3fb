import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { startCluster, type Cluster, type User } from '../src/index.ts';
import { startCuttingProxy } from './support/cutting-proxy.ts';
import { BuiltCli, type CliOptions, NOTHING_BUT_WAITS } from './support/packed-cli.ts';

jest.setTimeout(240_000); // on a busy machine a process takes seconds to start

const MIB = 1_048_576;

let cluster: Cluster;
let alice: User;
let cli: BuiltCli;
let folder: string;
beforeAll(async () => {
  [cluster, cli] = await Promise.all([startCluster(), BuiltCli.build()]);
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

describe('pasteflow', () => {
  it('makes each of many files one paste although the api is killed in the middle', async () => {
    const files = Array.from({ length: 40 }, (_, n) => join(folder, `file ${n}`));
    const unique = randomBytes(8).toString('hex');
    await Promise.all(files.map((path, n) => writeFile(path, `${unique} ${n}`)));
    const api = cluster.apis[0]!;
    const { child, ended } = cli.start(
      ['put', '--each', '--json', ...files],
      options({ token: alice.token }),
    );
    await new Promise((resolve) => child.stdout!.once('data', resolve));
    await api.kill();
    await api.start();
    const { code, stdout, stderr } = await ended;
    expect([code, stderr]).toEqual([0, expect.stringMatching(NOTHING_BUT_WAITS)]);
    const pastes = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { file: string; short_code: string });
    expect(pastes.map(({ file }) => file)).toEqual(files);
    const rows = await cluster.rows.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM pastes WHERE user_id = $1 AND size_bytes BETWEEN 18 AND 19`,
      [alice.userId],
    );
    expect(rows).toEqual([{ count: 40 }]);
    for (const [n, { short_code: shortCode }] of pastes.entries())
      expect(await (await alice.pastes.content(shortCode)).text()).toBe(`${unique} ${n}`);
  });

  it('waits for an api that hangs', async () => {
    const api = cluster.apis[0]!;
    api.signal('SIGSTOP');
    const { ended } = cli.start(['put'], options({ stdin: 'patient' }));
    await sleep(2000);
    api.signal('SIGCONT');
    expect(await ended).toMatchObject({ code: 0, stderr: '' });
  });

  it('downloads the whole content although each connection is cut after a megabyte', async () => {
    const content = randomBytes(5 * MIB);
    const { short_code: code } = await alice.pastes.create(content, { wait: true });
    const proxy = await startCuttingProxy(port(), MIB, 'cut');
    try {
      const { code: exit, stderr } = await cli.run(
        ['cat', code, '-o', 'copy'],
        options({ server: proxy.url }),
      );
      expect([exit, stderr]).toEqual([0, '']);
      expect((await readFile(join(folder, 'copy'))).equals(content)).toBe(true);
      expect(proxy.stopped).toBeGreaterThanOrEqual(4);
    } finally {
      await proxy.stop();
    }
  });

  it('leaves no half file when it is interrupted, and tells the shell of the signal', async () => {
    const { short_code: code } = await alice.pastes.create(randomBytes(5 * MIB), { wait: true });
    const proxy = await startCuttingProxy(port(), MIB, 'stall');
    try {
      const { child, ended } = cli.start(['cat', code, '-o', 'copy'], options({ server: proxy.url }));
      await cluster.until(async () => (await readdir(folder)).some((name) => name.endsWith('.part')));
      child.kill('SIGINT');
      expect(await ended).toMatchObject({
        signal: 'SIGINT',
        stdout: '',
        stderr: 'pasteflow: Interrupted.\n',
      });
      expect(await readdir(folder)).toEqual([]);
    } finally {
      await proxy.stop();
    }
  });
});
