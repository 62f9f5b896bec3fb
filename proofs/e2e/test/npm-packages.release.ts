// What a release publishes to npm is published to a registry on this machine, and installed from there as a
// user does, on each Node that is promised. The first run downloads the registry and two versions of Node.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '@pasteflow/dev-stack/testing';
import { ROOT, startCluster, type Cluster } from '../src/index.ts';
import { Program } from '../src/one-machine.ts';
import { freePort } from '../src/ports.ts';

const VERDACCIO = '6.10.4';
/** Nothing that was published later runs here, and no script of an installation. */
const VERDACCIO_OPTIONS = ['--before=2026-10-01', '--ignore-scripts'];
/** Of the users of the client, as its README says. */
const OLDEST_TYPESCRIPT = '5.4.5';
const NODES = ['20.20.2', '22.23.3', '24.21.0'];

const PROGRAM = `
import { createClient, PasteflowApiError, type Paste } from '@pasteflow/client';

const client = createClient({ baseUrl: process.argv[2] ?? '' });
const { short_code } = await client.pastes.create('from a program', { title: 'Greeting', wait: true });
const paste: Paste = await client.pastes.get(short_code);
const bytes: Uint8Array = await (await client.pastes.content(short_code)).bytes();
// @ts-expect-error -- the types know the fields
console.log(paste.title, new TextDecoder().decode(bytes), paste.neverThere);
try {
  // @ts-expect-error -- and the types of the options
  await client.pastes.create('x', { expires_in: true });
} catch (error) {
  if (error instanceof PasteflowApiError) console.log(error.status);
}
`;

const NODE = dirname(process.execPath);
const execute = promisify(execFile);
// What npm needs to run, without what it says about the script that runs this test.
const inherited = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')),
);

async function run(cwd: string, bin: string, file: string, ...args: string[]): Promise<string> {
  const env = { ...inherited, PATH: `${bin}:${inherited['PATH']}`, npm_config_update_notifier: 'false' };
  return (await execute(file, args, { cwd, env })).stdout;
}

/** Installs a package of npm into a folder of its name, unless it is there. */
async function install(
  spec: string,
  overrides: object = {},
  options: readonly string[] = [],
): Promise<string> {
  const folder = join(ROOT, 'node_modules/.cache', spec);
  if (existsSync(join(folder, 'complete'))) return folder;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, overrides }));
  await run(folder, NODE, 'npm', 'install', '--no-audit', '--no-fund', '--save-exact', ...options, spec);
  await writeFile(join(folder, 'complete'), '');
  return folder;
}

let cluster: Cluster;
let registry: Program;
let work: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  work = await temporaryFolder();
  [cluster, registry] = await Promise.all([startCluster(), startRegistry(work.dataDir)]);
  const packed = join(work.dataDir, 'packed');
  await run(ROOT, NODE, 'scripts/pack-npm', packed);
  for (const name of await readdir(packed))
    await run(packed, NODE, 'npm', 'publish', name, '--access', 'public', ...userConfig());
}, 600_000);
afterAll(async () => {
  await Promise.all([cluster?.stop(), registry?.kill()]);
  await work?.remove();
});

const userConfig = (): string[] => [
  '--userconfig',
  join(work.dataDir, 'npmrc'),
  '--cache',
  join(work.dataDir, 'cache'),
];

/** Has what is published here, and passes requests for anything else on. */
async function startRegistry(folder: string): Promise<Program> {
  // It asks for a tag of node-fetch, which not every mirror of the registry has.
  const verdaccio = await install(`verdaccio@${VERDACCIO}`, { 'node-fetch': '2.7.0' }, VERDACCIO_OPTIONS);
  const uplink = (await run(folder, NODE, 'npm', 'config', 'get', 'registry')).trim();
  const url = `http://127.0.0.1:${await freePort()}`;
  const config = {
    storage: join(folder, 'storage'),
    auth: { htpasswd: { file: join(folder, 'htpasswd') } },
    uplinks: { npm: { url: uplink } },
    packages: {
      '{pasteflow,@pasteflow/*}': { access: '$all', publish: '$authenticated' },
      '**': { access: '$all', proxy: 'npm' },
    },
    log: { type: 'stdout', format: 'json', level: 'warn' },
  };
  await writeFile(join(folder, 'verdaccio.json'), JSON.stringify(config)); // JSON is YAML
  const program = new Program(
    url,
    [
      process.execPath,
      join(verdaccio, 'node_modules/verdaccio/bin/verdaccio'),
      '--config',
      join(folder, 'verdaccio.json'),
      '--listen',
      url,
    ],
    { ...inherited, HOME: folder },
  );
  await program.start();
  const answer = await fetch(`${url}/-/user/org.couchdb.user:release`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'release', password: 'only on this machine' }),
  });
  const { token } = (await answer.json()) as { token: string };
  const settings = [`registry=${url}/`, `//${new URL(url).host}/:_authToken=${token}`];
  await writeFile(join(folder, 'npmrc'), settings.join('\n'));
  return program;
}

describe.each(NODES)('installed from a registry on Node %s', (version) => {
  let bin: string;
  let folder: string;
  beforeAll(async () => {
    bin =
      version === process.versions.node
        ? NODE
        : join(await install(`node@${version}`), 'node_modules/node/bin');
    folder = join(work.dataDir, version);
    await mkdir(folder);
    await writeFile(join(folder, 'package.json'), '{ "type": "module", "private": true }');
    expect(await run(folder, bin, 'node', '--version')).toBe(`v${version}\n`);
    const names = ['pasteflow', '@pasteflow/client'];
    await run(folder, bin, 'npm', 'install', '--no-audit', '--no-fund', ...userConfig(), ...names);
  }, 600_000);

  it('pasteflow puts and reads a paste', async () => {
    const pasteflow = join(folder, 'node_modules/.bin/pasteflow');
    const { url } = cluster.http();
    expect(await run(folder, bin, pasteflow, '--version')).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(await run(folder, bin, pasteflow, '--help')).toContain('put');
    const { man } = JSON.parse(
      await readFile(join(folder, 'node_modules/pasteflow/package.json'), 'utf8'),
    ) as { man: string };
    expect(existsSync(join(folder, 'node_modules/pasteflow', man))).toBe(true);
    await writeFile(join(folder, 'file'), `from Node ${version}\n`);
    const paste = await run(folder, bin, pasteflow, '--server', url, 'put', 'file');
    expect(await run(folder, bin, pasteflow, '--server', url, 'cat', paste.trim())).toBe(
      `from Node ${version}\n`,
    );
  });

  it('a program imports the client, and its types are checked', async () => {
    await writeFile(join(folder, 'program.ts'), PROGRAM);
    const strict = ['--strict', '--module', 'nodenext', '--target', 'es2022', '--types', 'node'];
    const types = ['--typeRoots', join(ROOT, 'node_modules/@types')];
    for (const compiler of [ROOT, await install(`typescript@${OLDEST_TYPESCRIPT}`)]) {
      const { stdout } = await execute(
        join(compiler, 'node_modules/.bin/tsc'),
        [...strict, ...types, 'program.ts'],
        { cwd: folder },
      ).catch((error: { stdout: string }) => error);
      expect(stdout).toBe('');
    }
    expect(await run(folder, bin, 'node', 'program.js', cluster.http().url)).toBe(
      'Greeting from a program undefined\n422\n',
    );
  });
});
