import { afterAll, describe, expect, it, jest } from '@jest/globals';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { basename, dirname, join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import { REPOSITORY } from '../src/stack-config.ts';
import { spawnService, temporaryFolder, until, type SpawnedProcess } from '../src/testing/index.ts';
import { childrenOf, isAlive } from './processes.ts';

jest.setTimeout(400_000); // five restarts of services

const { dataDir: folder, remove } = await temporaryFolder();
const tree = join(folder, 'tree');
let main: SpawnedProcess | undefined;
afterAll(async () => {
  await main?.stop();
  await remove();
});

/** What `npm run dev` needs of the checkout. The packages in node_modules are links, also to each other. */
function copyTree(): void {
  for (const folder of ['infra', 'docs']) mkdirSync(join(tree, folder), { recursive: true });
  const ofClient = ['LICENSE', 'docs/cli.md']; // the package of the command line client has them
  for (const name of [
    'package.json',
    'pnpm-lock.yaml',
    'pnpm-workspace.yaml',
    'infra/resources.json',
    ...ofClient,
  ])
    cpSync(join(REPOSITORY, name), join(tree, name));
  const isNeeded = (path: string) =>
    !['test', '.turbo', '.test-results', '.cache'].includes(basename(path)) &&
    (basename(path) !== 'dist' || basename(dirname(path)) === 'web');
  for (const name of ['packages', 'clients', 'services', 'scripts'])
    cpSync(join(REPOSITORY, name), join(tree, name), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => isNeeded(relative(REPOSITORY, path)),
    });
  symlinkSync(join(REPOSITORY, 'node_modules'), join(tree, 'node_modules'));
}

/** Replaces text in a source as most editors save it: a new file that is renamed over the old one. */
function save(path: string, from: string, to: string): void {
  const file = join(tree, path);
  const before = readFileSync(file, 'utf8');
  expect(before).toContain(from);
  writeFileSync(
    `${file}~`,
    before.replace(from, () => to),
  );
  renameSync(`${file}~`, file);
}

const page = async (url: string) => {
  const response = await fetch(url, { headers: { accept: 'text/html' } });
  return { html: await response.text(), policy: response.headers.get('content-security-policy') };
};

const HEALTH = 'services/api/src/docs/health.ts';
const ALIVE = "{ status: 'alive' } satisfies z.output<typeof alive>";
const health = async (url: string) =>
  ((await (await fetch(`${url}/healthz`)).json()) as { status: string }).status;

/** What developers start in VS Code. */
const debuggers = () =>
  (
    JSON.parse(readFileSync(join(REPOSITORY, '.vscode/launch.json'), 'utf8')) as {
      configurations: { name: string; request: string; port?: number }[];
    }
  ).configurations;

describe('npm run dev', () => {
  it('serves what was saved, survives broken sources, loses no paste in a restart, and leaves no process', async () => {
    copyTree();
    const ports = { STACK_POSTGRES_PORT: '0', STACK_AWS_PORT: '0', API_PORT: '0', METRICS_PORT: '0' };
    const dev = spawnService({
      entry: join(tree, 'packages/dev-stack/src/start-main.ts'),
      args: ['dev'],
      env: { PASTEFLOW_DATA_DIR: folder, ALLOW_POSTGRES_TO_LOSE_DATA: '', ...ports },
      name: 'npm run dev',
    });
    main = dev;
    const url = (await dev.waitFor(/Pasteflow is running at (http:\S+)/, 120_000))[1] as string;
    await dev.waitFor(/Each service restarts when/);
    await dev.waitFor(/^\d\d:\d\d:\d\d\.\d{3} INFO {2}api: service started/); // for people, not JSON

    // A page is served anew, and the browser told, after a change of a package.
    const first = await page(url);
    expect(first.html).toContain('<title>New paste – Pasteflow</title>');
    expect(first.html).toContain('<script src="/.dev/reload.js"></script>');
    expect(first.policy).toMatch(/script-src 'self' 'sha256-\S+';/); // as in production
    expect(await (await fetch(`${url}/.dev/reload.js`)).text()).toContain('location.reload()');
    const reloads: string[] = [];
    const events = request(`${url}/.dev/events`, (answer) =>
      answer.setEncoding('utf8').on('data', (chunk: string) => reloads.push(chunk)),
    ).on('error', () => {}); // Ctrl-C ends it
    events.end();
    save('packages/web/src/words/en.ts', "title: 'New paste'", "title: 'Newer paste'");
    await until(async () => (await page(url)).html.includes('<title>Newer paste – Pasteflow</title>'));
    await until(() => reloads.join('') === 'data: reload\n\n');

    // So is a style sheet, which no source imports.
    const styles = (html: string) => /all-\w+\.css/.exec(html)?.[0];
    save('packages/web/styles/page.css', 'body {', 'body { --saved: 1;');
    await until(async () => styles((await page(url)).html) !== styles(first.html));
    expect((await page(url)).policy).not.toBe(first.policy); // It has the hash of the style sheet.

    // A syntax error restarts nothing.
    save(HEALTH, ALIVE, '{ status: }');
    await dev.waitFor(/^services\/api\/src\/docs\/health\.ts:\d+$/);
    await dev.waitFor(/Nothing was restarted/);
    expect(await health(url)).toBe('alive');

    // A request that has begun gets its answer from the process that stops.
    const slow = request(`${url}/`, { method: 'POST', headers: { expect: '100-continue' } });
    const answered = new Promise<string>((resolve, reject) => {
      slow.once('error', reject).once('response', (answer) => {
        expect(answer.statusCode).toBe(201);
        void text(answer).then(resolve, reject);
      });
    });
    await once(slow, 'continue');
    slow.write('begun before, ');
    save(HEALTH, '{ status: }', "{ status: 'mended' }");
    await dev.waitFor(/changed: restarting api$/);
    slow.end('ended during the restart');
    const begun = (await answered).trim();
    await until(async () => (await health(url)) === 'mended');

    // A source that ends the api at its start: requests wait for the next change.
    save(HEALTH, 'const alive', 'neverDefined();\nconst alive');
    await dev.waitFor(/^api ended with code 1 before it was ready/);
    const held = fetch(`${url}/`, { method: 'POST', body: 'while the api was down' });
    save(HEALTH, 'neverDefined();', '');
    const posted = await held;
    expect(posted.status).toBe(201);

    for (const [paste, content] of [
      [begun, 'begun before, ended during the restart'],
      [(await posted.text()).trim(), 'while the api was down'],
    ] as const)
      await until(async () => (await (await fetch(paste)).text()) === content);

    const children = childrenOf(dev.pid);
    const commands = children.map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8')).join('\n');
    for (const { name, request: kind, port } of debuggers())
      if (kind === 'attach')
        expect(commands).toMatch(
          new RegExp(`--inspect=127\\.0\\.0\\.1:${port}\\0.*/services/${name}/src/main\\.ts`),
        );
    dev.kill('SIGINT');
    expect(await dev.exited).toEqual({ code: 0, signal: null });
    expect(children.filter((pid) => isAlive(pid))).toEqual([]);
  });
});
