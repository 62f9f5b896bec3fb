import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { spawnService } from '@pasteflow/dev-stack/testing';
import { entryOf, ROOT, type ServiceName } from '../src/index.ts';

const EXIT_CONFIG = 78;

async function run(service: ServiceName, env: Record<string, string>, args: string[] = []) {
  const process = spawnService({ entry: entryOf(service), env, args });
  const { code } = await process.exited;
  return { code, stdout: process.stdout, stderr: process.stderr };
}

const INVALID: Record<string, string> = {
  DATABASE_URL: 'mysql://user:hunter2@somewhere/else',
  AWS_ENDPOINT_URL_S3: 'not a url',
  METRICS_PORT: '70000',
  S3_BUCKET: 'Not_A_Bucket',
  UPLOAD_QUEUE_NAME: 'a queue',
  LOG_LEVEL: 'shout',
};
const INVALID_FOR: Record<ServiceName, Record<string, string>> = {
  api: { ...INVALID, API_PORT: 'http', MAX_PASTE_BYTES: '-1' },
  'upload-worker': {
    ...INVALID,
    UPLOAD_RETRY_DELAYS_MS: '1s,2s',
    UPLOAD_CONCURRENCY: '0',
    EXECUTION_LEASE_SECONDS: '0',
  },
  janitor: {
    ...INVALID,
    SWEEP_INTERVALS: 'cleanup=daily',
    CLEANUP_INTERVAL_SECONDS: 'daily',
    JOB_RETENTION_SECONDS: '-5',
  },
};

describe.each(['api', 'upload-worker', 'janitor'] as const)('the %s', (service) => {
  it('exits with 78 and one message that names every invalid variable and contains no password', async () => {
    const { code, stdout, stderr } = await run(service, INVALID_FOR[service]);
    expect(code).toBe(EXIT_CONFIG);
    expect(stdout).toEqual([]);
    const names = Object.keys(INVALID_FOR[service]);
    expect(stderr.join()).not.toContain('hunter2');
    expect(stderr[0]).toBe(`${service}: The configuration has ${names.length} problems:`);
    const named = stderr.slice(1).map((line) => line.trim().split(' ')[0]);
    expect(new Set(named)).toEqual(new Set(names));
    expect(named).toHaveLength(names.length);
  });

  it('names each missing required variable with an example, and no optional variable', async () => {
    const { code, stderr } = await run(service, {});
    expect(code).toBe(EXIT_CONFIG);
    expect(stderr).toEqual([
      `${service}: The configuration has 2 problems:`,
      expect.stringMatching(/^ {2}DATABASE_URL is missing; set it to a URL like postgres:/),
      expect.stringMatching(/^ {2}AWS_ENDPOINT_URL is missing; set it to .*PASTEFLOW_STACK=aws/),
    ]);
  });
});

it.each(['api', 'upload-worker', 'janitor'] as const)(
  'the %s does not start with a misspelt name of any setting, and names the right one',
  async (service) => {
    const { code, stderr } = await run(service, {
      DATABASE_URL: 'postgres://127.0.0.1/pasteflow',
      AWS_ENDPOINT_URL: 'http://127.0.0.1:1',
      ANONYMOUS_PASTS: 'deny',
      'export OPS_TOKEN': 'secret-secret-secret',
      API_PORT_80_TCP: 'tcp://10.0.0.1:80',
    });
    expect(code).toBe(EXIT_CONFIG);
    expect(stderr).toEqual([
      `${service}: The configuration has 2 problems:`,
      expect.stringMatching(/^ {2}ANONYMOUS_PASTS has no effect: .*write ANONYMOUS_PASTES/),
      '  OPS_TOKEN has no effect behind the word export; remove that word',
    ]);
  },
);

it.each([
  ['a setting', 'ANONYMOUS_PASTES=deny', true],
  ['a comment, an empty line and a setting with spaces', '# a\n\n; b\n A_B=c d', true],
  ['the word export', 'LOG_LEVEL=info\nexport ANONYMOUS_PASTES=deny', false],
  ['a byte order mark', '\uFEFFANONYMOUS_PASTES=deny', false],
  ['a colon', 'ANONYMOUS_PASTES: deny', false],
])('the unit of a service starts it with a file of settings that has %s: %#', (_, text, starts) => {
  const unit = readFileSync(join(ROOT, 'infra/one-machine/systemd/pasteflow-run@.service'), 'utf8');
  const command = /^ExecStartPre=\+\/usr\/bin\/sh -c "(.*)"$/m.exec(unit)?.[1] ?? '';
  const folder = mkdtempSync(join(tmpdir(), 'pasteflow-settings-'));
  writeFileSync(join(folder, 'api.env'), text);
  const here = command.replaceAll('$$', '$').replaceAll('%i', 'api').replaceAll('/etc/pasteflow', folder);
  const { status, stderr } = spawnSync('sh', ['-c', here], { encoding: 'utf8', env: { LC_ALL: 'C.UTF-8' } });
  rmSync(folder, { recursive: true });
  expect([status === 0, stderr === '']).toEqual([starts, starts]);
  expect(stderr).not.toContain('deny');
});

it('checks the configuration of a single sweep in the same way', async () => {
  const { code, stderr } = await run('janitor', INVALID_FOR.janitor, ['--once', 'cleanup']);
  expect(code).toBe(EXIT_CONFIG);
  expect(stderr[0]).toMatch(/configuration has 9 problems/);
});

it('checks settings that depend on each other', async () => {
  const { code, stderr } = await run('api', {
    DATABASE_URL: 'postgres://127.0.0.1/pasteflow',
    AWS_ENDPOINT_URL: 'http://127.0.0.1:1',
    OIDC_ISSUER: 'https://idp.example.org',
  });
  expect(code).toBe(EXIT_CONFIG);
  expect(stderr).toEqual([
    'api: The configuration has 1 problem:',
    expect.stringMatching(/^ {2}OIDC_AUDIENCE is missing; set it to the aud claim/),
  ]);
});

it.each([
  ['--help', 0],
  ['another', 64],
])('migrates nothing when it is called with %s', async (argument, exitCode) => {
  const migrate = spawnService({
    entry: join(ROOT, 'packages/postgres/src/migrate-main.ts'),
    args: [argument],
    env: { DATABASE_URL: 'postgres://127.0.0.1:1/pasteflow' },
  });
  expect((await migrate.exited).code).toBe(exitCode);
  expect(migrate.stderr).toEqual([expect.stringMatching(/takes no arguments/)]);
});
