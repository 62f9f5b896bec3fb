import { afterEach, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { REPOSITORY } from '../src/stack-config.ts';
import { keyOfBundles } from '../src/testing/service-bundles.ts';
import { spawnService, type SpawnedProcess } from '../src/testing/index.ts';

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
const started: SpawnedProcess[] = [];
afterEach(async () => {
  process.env['TEST_SERVICES_FROM'] = chosen;
  await Promise.all(started.splice(0).map((service) => service.stop()));
});

function start(entry: string, args: string[] = []): SpawnedProcess {
  const service = spawnService({ entry: join(REPOSITORY, entry), args, env });
  started.push(service);
  return service;
}

describe('spawnService', () => {
  it.each([
    ['bundles', /service-bundles\/\w+\/api\.mjs/],
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
    expect(file).toBe(join(REPOSITORY, 'packages/postgres/src/database/pool.ts'));
    expect(existsSync(file)).toBe(true);
  });
});

it('makes bundles of its own for a copy of the sources, whose folder they name', () => {
  const folders = [1, 2].map(() => mkdtempSync(join(tmpdir(), 'pasteflow-bundles-')));
  try {
    for (const folder of folders) cpSync(join(REPOSITORY, 'pnpm-lock.yaml'), join(folder, 'pnpm-lock.yaml'));
    const [one = '', other = ''] = folders.map(keyOfBundles);
    expect(one).not.toBe(other);
    expect(keyOfBundles(folders[0]!)).toBe(one);
  } finally {
    for (const folder of folders) rmSync(folder, { recursive: true });
  }
});
