import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { startCluster, type Cluster } from '../src/index.ts';

jest.setTimeout(600_000); // the first build downloads a Node

const execute = promisify(execFile);

let cluster: Cluster;
let folder: string;
beforeAll(async () => {
  cluster = await startCluster();
  folder = await mkdtemp(join(tmpdir(), 'pasteflow-single-test-'));
});
afterAll(async () => {
  await cluster?.stop();
  await rm(folder, { recursive: true, force: true });
});

it('the single executable needs no Node, and puts, encrypts and reads pastes', async () => {
  const build = fileURLToPath(new URL('../../../clients/cli/build-single.ts', import.meta.url));
  const { stdout: program } = await execute(process.execPath, [build, join(folder, 'single')]);
  expect(await readdir(join(folder, 'single'))).toEqual(['pasteflow']);
  const content = randomBytes(300_000);
  await writeFile(join(folder, 'file'), content);
  const env = { HOME: folder, PASTEFLOW_SERVER: cluster.http().url, PATH: '/nowhere' };
  const run = async (...args: string[]): Promise<Buffer> =>
    (await execute(program.trim(), args, { env, cwd: folder, encoding: 'buffer', maxBuffer: 1e7 })).stdout;
  expect((await run('--version')).toString()).toMatch(/^\d+\.\d+\.\d+\n$/);
  for (const options of [[], ['--encrypt'], ['--burn', '--encrypt']]) {
    const url = (await run('put', ...options, 'file')).toString().trim();
    expect((await run('cat', '--reveal', url)).equals(content)).toBe(true);
  }
  await expect(run('nothing')).rejects.toMatchObject({ code: 2 });
});
