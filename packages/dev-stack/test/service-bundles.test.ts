import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { REPOSITORY } from '../src/stack-config.ts';
import { spawnService, type SpawnedService } from '../src/testing/index.ts';
import { bundleOf } from '../src/testing/service-bundles.ts';

/** Nothing answers at these addresses. The api starts all the same. */
const env = {
  DATABASE_URL: 'postgres://user:password@127.0.0.1:1/nothing',
  AWS_ENDPOINT_URL: 'http://127.0.0.1:1',
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  API_PORT: '0',
  METRICS_PORT: '0',
  LOG_FORMAT: 'json',
};

const chosen = process.env['TEST_SERVICES_FROM'];
const started: SpawnedService[] = [];
afterEach(async () => {
  process.env['TEST_SERVICES_FROM'] = chosen;
  await Promise.all(started.splice(0).map((service) => service.stop()));
});

function start(entry: string, args: string[] = []): SpawnedService {
  const service = spawnService({ entry: join(REPOSITORY, entry), args, env });
  started.push(service);
  return service;
}

describe('spawnService', () => {
  it.each([
    ['bundles', /service-bundles\/\w+\/api\.cjs/],
    ['sources', /--conditions=source \S+\/services\/api\/src\/main\.ts/],
  ])('starts a service from its %s when TEST_SERVICES_FROM has this value', async (from, command) => {
    process.env['TEST_SERVICES_FROM'] = from;
    const api = start('services/api/src/main.ts');
    await api.waitFor(/"message":"service started"/);
    const { stdout } = spawnSync('ps', ['-ww', '-o', 'command=', '-p', String(api.pid)], {
      encoding: 'utf8',
    });
    expect(stdout).toMatch(command);
  });

  // Not from bundles: reading their source maps takes a fifth of the CPU time of a start.
  it('shows files of the sources in the stack traces with TEST_SERVICES_FROM=sources', async () => {
    process.env['TEST_SERVICES_FROM'] = 'sources';
    const janitor = start('services/janitor/src/main.ts', ['--once', 'relay']);
    const [line] = await janitor.waitFor(/.*"message":"fatal error; process exiting".*/);
    const { error } = JSON.parse(line) as { error: { name: string; stack: string } };
    expect(error.name).toBe('DependencyUnavailableError');
    const [, file = ''] = /(?:file:\/\/)?(\/[^\s()]+\.ts):\d+:\d+/.exec(error.stack) ?? [];
    expect(file).toBe(join(REPOSITORY, 'packages/postgres/src/database/cuttable-pool.ts'));
    expect(existsSync(file)).toBe(true);
  });
});

describe('loadBundle', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pasteflow-test-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const loader = new URL('../src/testing/load-bundle.ts', import.meta.url).href;

  function run(bundle: string): string {
    const script = `import { loadBundle } from '${loader}'; loadBundle('${join(folder, bundle)}');`;
    const options = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', script];
    const { stdout, stderr, status } = spawnSync(process.execPath, options, { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
    return stdout;
  }

  const compiledOf = (bundle: string): string[] =>
    readdirSync(folder)
      .filter((name) => name.startsWith(`${bundle}.`))
      .map((name) => join(folder, name));

  it('keeps the code that the first process has compiled, and later processes leave the code as it is', () => {
    writeFileSync(
      join(folder, 'one.cjs'),
      "const lazy = () => require('node:path').basename(__filename); console.log(lazy());",
    );
    expect(run('one.cjs')).toBe('one.cjs\n');
    const [compiled = '', ...others] = compiledOf('one.cjs');
    expect(others).toEqual([]);
    const { ino } = statSync(compiled);
    expect(run('one.cjs')).toBe('one.cjs\n');
    expect(compiledOf('one.cjs')).toEqual([compiled]);
    expect(statSync(compiled).ino).toBe(ino);
  });

  it('runs a bundle whose compiled code V8 refuses, and replaces the code', () => {
    writeFileSync(join(folder, 'two.cjs'), "console.log('two');");
    expect(run('two.cjs')).toBe('two\n');
    const [compiled = ''] = compiledOf('two.cjs');
    const refused = readFileSync(compiled).fill(0);
    writeFileSync(compiled, refused);
    expect(run('two.cjs')).toBe('two\n');
    expect(readFileSync(compiled).equals(refused)).toBe(false);
  });

  it('runs a bundle with the same exit code when its code cannot be kept', () => {
    mkdirSync(join(folder, 'gone'));
    writeFileSync(
      join(folder, 'gone/three.cjs'),
      "require('node:fs').rmSync(__dirname, { recursive: true });",
    );
    expect(run('gone/three.cjs')).toBe('');
    expect(existsSync(join(folder, 'gone'))).toBe(false);
  });

  it('reads characters of every length', () => {
    writeFileSync(join(folder, 'four.cjs'), 'console.log(String.raw`– € 🦊`, /é/.test("é"));');
    expect(run('four.cjs')).toBe('– € 🦊 true\n');
  });
});

it('a bundle is in strict mode, as the sources are', () => {
  const api = readFileSync(
    bundleOf(join(REPOSITORY, 'services/api/src/main.ts'))!.file.replace(/cjs$/, 'bundle.cjs'),
    'utf8',
  );
  expect(api.startsWith("'use strict';")).toBe(true);
});
