import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startCluster, type Cluster } from '../src/index.ts';

const README = new URL('../../client/README.md', import.meta.url);
const [preamble = '', ...examples] = [
  ...(await readFile(README, 'utf8')).matchAll(/^```ts\n(.*?)^```$/gms),
].map(([, code = '']) => code);

let cluster: Cluster;
let token: string;
let folder: string;
beforeAll(async () => {
  cluster = await startCluster();
  ({ token } = await cluster.user('reader'));
  folder = await mkdtemp(join(tmpdir(), 'pasteflow-readme-'));
  await writeFile(join(folder, 'server.log'), 'a line\n'.repeat(100_000));
});
afterAll(async () => {
  await cluster.stop();
  await rm(folder, { recursive: true });
});

/** Runs an example as a separate program, in a package that depends on the client. */
async function run(example: string): Promise<string> {
  const code = (preamble + example)
    .replace('http://127.0.0.1:3000', cluster.http().url)
    .replaceAll(/'(\w+\.log)'/g, (_, name: string) => `'${join(folder, name)}'`);
  const args = ['--conditions=source', '--input-type=module-typescript', '--eval', code];
  const cwd = fileURLToPath(new URL('..', import.meta.url));
  return await new Promise((resolve, reject) => {
    execFile(process.execPath, args, { cwd, env: { PASTEFLOW_TOKEN: token } }, (error, stdout, stderr) => {
      if (error === null && stderr === '') resolve(stdout);
      else reject(new Error(stderr || 'the example failed', { cause: error }));
    });
  });
}

describe('the examples in the README of the client', () => {
  it.each(
    [
      ['pastes', /^http:\S+ PROCESSED\nhello, world\n$/],
      ['large content', /^700000 bytes\n$/],
      ['jobs', /^(\d+ %\n)*completed \{[^]*\}\n(http:\S+\n){3}$/],
      ['events', /^(\w+ → \w+\n)+completed\n$/],
      ['lists', /^(\w{10} \d+\n)+1 null\n$/],
      ['errors', /^404, request \S+\n$/],
    ].map(([name, output], index) => [name, examples[index], output] as const),
  )('print the documented output: %s', async (_name, example, output) => {
    expect(await run(example ?? '')).toMatch(output!);
  });

  it('are all tested', () => {
    expect(examples).toHaveLength(6);
  });

  it('download the same bytes as they upload', async () => {
    const [sent, copy] = await Promise.all(
      ['server.log', 'copy.log'].map(async (name) => await readFile(join(folder, name))),
    );
    expect(copy!.equals(sent!)).toBe(true);
  });
});
