// Makes node_modules match pnpm-lock.yaml, and builds what browsers and npm load; does nothing when all is up
// to date. scripts/run calls it before every command, on whatever Node the newcomer has: plain JavaScript for 18
// and later, with import names that older ones know too, so that they can say so.
import { spawnSync } from 'child_process';
import { createHash } from 'crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'fs';
import { fileURLToPath } from 'url';

const OLDEST_NODE = 18;
const STAMP = 'node_modules/.bootstrap';

function fail(message, code = 1) {
  process.stderr.write(`${message}\n`);
  process.exit(code);
}

if (Number(process.versions.node.split('.')[0]) < OLDEST_NODE)
  fail(
    `This is Node ${process.versions.node}, and Pasteflow needs Node ${OLDEST_NODE} or later to install its own: get one from https://nodejs.org.`,
  );

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const { packageManager, wanted } = readWanted();
if (!isInstalled(wanted)) {
  process.stdout.write(`installing the toolchain and packages with ${packageManager} …\n`);
  install(packageManager);
  mkdirSync('node_modules', { recursive: true });
  writeFileSync(STAMP, wanted);
}
// Browsers can't load TypeScript, unlike Node, and npm installs the command line client from a package.
build('packages/web/', ['browser', 'styles', 'src', '../sealed/src', '../domain/src'], 'dist/assets/.built');
build(
  'clients/cli/',
  ['src', '../client/src', '../../packages/sealed/src', '../../packages/domain/src'],
  'dist/.built',
);

/** Runs the build.ts of a package when a source has changed. */
function build(folder, sources, stamp) {
  const hash = createHash('sha256').update(wanted);
  const files = sources.flatMap((source) => filesIn(folder + source));
  for (const file of [`${folder}build.ts`, `${folder}package.json`, ...files])
    hash.update(file).update(readFileSync(file));
  const current = hash.digest('hex');
  if (existsSync(folder + stamp) && readFileSync(folder + stamp, 'utf8') === current) return;
  const { status, stderr } = spawnSync('node_modules/.bin/node', [`${folder}build.ts`], { encoding: 'utf8' });
  if (status !== 0) fail(`${folder}build.ts failed:\n${stderr}`, status || 1);
  writeFileSync(folder + stamp, current);
}

function filesIn(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) =>
      entry.isDirectory() ? filesIn(`${folder}/${entry.name}`) : [`${folder}/${entry.name}`],
    )
    .sort();
}

function readWanted() {
  try {
    const { packageManager } = JSON.parse(readFileSync('package.json', 'utf8'));
    const hash = createHash('sha256').update(packageManager);
    for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml']) hash.update(readFileSync(file));
    return { packageManager, wanted: hash.digest('hex') };
  } catch (error) {
    return fail(`This is no complete checkout of Pasteflow (${error.message}): clone it again.`);
  }
}

function isInstalled(wanted) {
  return existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted && existsSync('node_modules/.bin/node');
}

function install(packageManager) {
  const result = run('npx', ['--yes', packageManager, 'install', '--frozen-lockfile'], 'inherit');
  if (result.status === 0) return;
  if (result.signal) fail(`The installation was ended by ${result.signal}: run the command again.`, 130);
  if (isMissing(result))
    fail(
      'npx is not found: install npm, which comes with Node.js (https://nodejs.org), and run the command again.',
    );
  if (
    run('npm', ['view', packageManager, 'version', '--fetch-retries=0', '--fetch-timeout=10000'], 'ignore')
      .status !== 0
  )
    fail(
      `The installation failed, and the npm registry (${registry()}) doesn't answer: check the network, or npm's proxy and registry settings, and run the command again.`,
    );
  fail('The installation failed: see the messages of npx and pnpm above.', result.status || 1);
}

function run(command, args, stdio) {
  const windows = process.platform === 'win32'; // npx and npm are scripts there, which only a shell finds
  return spawnSync(command, args, { stdio, shell: windows, env: withoutScriptVariables() });
}

function isMissing(result) {
  return (result.error && result.error.code === 'ENOENT') || result.status === 127;
}

/** npm describes the script it runs in the environment; pnpm would take that for its own. */
function withoutScriptVariables() {
  const entries = Object.entries(process.env).filter(([name]) => !/^npm_(lifecycle|package)_/.test(name));
  return Object.fromEntries(entries);
}

function registry() {
  const { stdout } = run('npm', ['config', 'get', 'registry'], ['ignore', 'pipe', 'ignore']);
  return String(stdout || '').trim() || 'unknown';
}
