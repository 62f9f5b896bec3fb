import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { spawnService, temporaryFolder, until } from '@pasteflow/dev-stack/testing';

const entry = fileURLToPath(new URL('fixtures/load-own.ts', import.meta.url));

let folder: string;
let remove: () => Promise<void>;
beforeAll(async () => {
  const made = await temporaryFolder();
  folder = await realpath(made.dataDir);
  remove = made.remove;
});
afterAll(() => remove());

const OWN = `export default (kit) => kit.defineJobType({
  name: 'own',
  summary: 'Made for a test.',
  parameters: kit.z.strictObject({}),
  example: {},
  run: async () => ({ status: 'completed', result: {} }),
});
`;
const named = (name: string): string => OWN.replace("'own'", `'${name}'`);

/** What became of each file: the names of the job types, or the problem. */
async function load(...paths: readonly string[]): Promise<unknown[]> {
  const loading = spawnService({ entry, args: [...paths], name: 'load-own' });
  expect([await loading.exited, loading.stderr]).toEqual([{ code: 0, signal: null }, []]);
  return loading.stdout.map((line) => JSON.parse(line) as unknown);
}

async function file(name: string, text = OWN, mode = 0o644): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  await chmod(path, mode); // whatever the umask is
  return path;
}

it('adds the types of a file, in JavaScript or TypeScript, and also by a link as in a ConfigMap', async () => {
  const path = await file('own.mjs');
  const typed = await file('own.mts', OWN.replace('(kit)', '(kit: any)'));
  const list = `const one = ${named('one').replace('export default', '')}
    const two = ${named('two').replace('export default', '')}
    export default async (kit) => [one(kit), two(kit)];`;
  const link = join(folder, 'link.mjs');
  await symlink(path, link);
  expect(await load(path, typed, await file('list.mjs', list), link)).toEqual([
    ['export', 'import', 'own'],
    ['export', 'import', 'own'],
    ['export', 'import', 'one', 'two'],
    ['export', 'import', 'own'],
  ]);
});

it('adds the types of a bundle that has a package in CommonJS, made as the tutorial says, and says what one without the banner misses', async () => {
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const tutorial = await readFile(join(root, 'docs/tutorial.md'), 'utf8');
  const [command] = /^npx esbuild own\.mts (?:.*\\\n)*.*$/m.exec(tutorial)!;
  const author = join(folder, 'author');
  await mkdir(join(author, 'node_modules/.bin'), { recursive: true });
  for (const name of ['commander', '.bin/esbuild'])
    await symlink(join(root, 'clients/cli/node_modules', name), join(author, 'node_modules', name));
  const source = OWN.replace("'Made for a test.'", "new Command().summary('Made for a test.').summary()");
  await file(
    'author/own.mts',
    `import { Command } from 'commander';\n${source.replace('(kit)', '(kit: any)')}`,
  );
  const bundle = async (line: string): Promise<unknown> => {
    await promisify(execFile)('sh', ['-c', line.replace('npx ', 'node_modules/.bin/')], { cwd: author });
    return (await load(join(author, 'own.mjs')))[0];
  };
  expect(await bundle(command)).toEqual(['export', 'import', 'own']);
  expect(await bundle(command.replace(/ *\\\n.*/, ''))).toMatch(
    /bundles a package in CommonJS: Dynamic require .*; bundle the file with the banner that docs\/tutorial\.md shows$/,
  );
});

it('says of a path what is wrong with it', async () => {
  const missing = join(folder, 'missing.mjs');
  expect(await load('own.mjs', missing, folder)).toEqual([
    'is "own.mjs"; set it to an absolute path, like /etc/pasteflow/job-types.mjs',
    `names ${missing}, which does not exist; mount the file there, or leave JOB_TYPES out`,
    `names ${folder}, which is no file; name the file itself, like own.mjs`,
  ]);
});

it('refuses a file that others may write, or replace in its folder', async () => {
  const byGroup = await file('by-group.mjs', OWN, 0o664);
  const byAll = await file('by-all.mjs', OWN, 0o646);
  const open = join(folder, 'open');
  await mkdir(open);
  await chmod(open, 0o777);
  const inOpen = await file('open/own.mjs');
  const linkInOpen = join(open, 'link.mjs');
  await symlink(await file('behind-link.mjs'), linkInOpen);
  const linkToOpen = join(folder, 'to-open.mjs');
  await symlink(inOpen, linkToOpen);
  await mkdir(join(open, 'closed'));
  const further = await file('open/closed/own.mjs');
  const behindOpen = join(folder, 'behind-open');
  await symlink(join(open, 'closed'), behindOpen);
  const linkedFolder = join(behindOpen, 'own.mjs');
  const problem = (path: string, written: string): string =>
    `names ${path}, but others may write to ${written}; take that away with: chmod go-w ${written}`;
  expect(await load(byGroup, byAll, inOpen, linkInOpen, linkToOpen, further, linkedFolder)).toEqual([
    problem(byGroup, byGroup),
    problem(byAll, byAll),
    problem(inOpen, open),
    problem(linkInOpen, open),
    problem(linkToOpen, open),
    problem(further, open),
    problem(linkedFolder, open),
  ]);
  await chmod(open, 0o1777);
  expect(await load(further)).toEqual([['export', 'import', 'own']]);
});

it('names the line of a syntax error, and what a file throws or misses', async () => {
  const broken = await file('broken.mjs', 'const a = 1;\n\nconst b = ;\n');
  const typed = await file('broken.mts', 'const a: number = 1;\nconst b: = 2;\n');
  const throwing = await file('throwing.mjs', "throw new Error('no feeds');\n");
  const importing = await file('importing.mjs', "import 'left-pad';\n");
  const making = await file('making.mjs', "export default () => { throw new Error('Set FEEDS.'); };\n");
  const [syntax, syntaxOfTypes, thrown, missing, made] = await load(
    broken,
    typed,
    throwing,
    importing,
    making,
  );
  expect(syntax).toBe(`names ${broken}, which is no valid JavaScript in line 3: Unexpected token ';'`);
  expect(syntaxOfTypes).toContain(`names ${typed}, which is no valid JavaScript in line 2: Unexpected token`);
  expect(thrown).toBe(`names ${throwing}, which throws when it is loaded: no feeds`);
  expect(missing).toMatch(/imports what is not there: Cannot find package 'left-pad' .*; bundle the file/);
  expect(made).toBe(`names ${making}, which throws when its default export is called: Set FEEDS.`);
});

it('refuses a file that does not finish loading, also when nothing keeps the process alive', async () => {
  const top = await file('top.mjs', `await new Promise(() => {});\n${OWN}`);
  const made = await file('never.mjs', 'export default () => new Promise(() => {});\n');
  const busy = await file('busy.mjs', `setInterval(() => {}, 10); await new Promise(() => {});\n${OWN}`);
  const loading = spawnService({
    entry,
    args: [top, made, busy],
    name: 'load-own',
    env: { ...process.env, MAX_SECONDS: '3' },
  });
  const why =
    'has not loaded within 3 s; what it awaits when it is loaded, or when its default export is called, does not end';
  await until(
    () => loading.stdout.length,
    (lines) => lines === 3,
  );
  await loading.stop();
  expect(loading.stdout.map((line) => JSON.parse(line) as unknown)).toEqual(
    [top, made, busy].map((path) => `names ${path}, which ${why}`),
  );
});

it('ends the process, and says where, when code of the file keeps the thread', async () => {
  const spins = await file('spins.mjs', 'function spin() {\n  for (;;);\n}\nspin();\n');
  const loading = spawnService({
    entry,
    args: [spins],
    name: 'load-own',
    env: { ...process.env, MAX_SECONDS: '2' },
  });
  expect(await loading.exited).toEqual({ code: 1, signal: null });
  const [message, fields] = JSON.parse(loading.stdout[0]!) as [string, string];
  expect(message).toBe('own job types keep the thread; process exiting');
  expect(fields).toContain(`at spin (file://${spins}:2:`);
});

it('refuses names that Pasteflow needs, and two types of one name', async () => {
  const taken = ['export', 'uploads', 'webhooks'].map(async (name) => await file(`${name}.mjs`, named(name)));
  const twice = `const make = ${OWN.replace('export default', '')}
    export default (kit) => [make(kit), make(kit)];`;
  const paths = [...(await Promise.all(taken)), await file('twice.mjs', twice)];
  const problem = (at: number, why: string): string => `names ${paths[at]}, which has a job type ${why}`;
  expect(await load(...paths)).toEqual([
    problem(0, "'export', but Pasteflow has one of this name; give it another name, like 'our-export'"),
    problem(
      1,
      "'uploads', but operators pause uploads by this name; give it another name, like 'our-uploads'",
    ),
    problem(
      2,
      "'webhooks', but operators pause webhooks by this name; give it another name, like 'our-webhooks'",
    ),
    problem(
      3,
      "'own', but there is another one of this name in the file; give it another name, like 'our-own'",
    ),
  ]);
});
