import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnCommand, spawnProgram } from '@pasteflow/dev-stack/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Status } from '../src/operations/reports/read-status.ts';
import { sendRaw } from './messages.ts';
import { createWorld, UPLOADS, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

describe('npm run ops', () => {
  it('uses the embedded stack that runs in another terminal, and ignores an AWS profile', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'pasteflow-ops-'));
    try {
      const { METRICS_PORT: _, LOG_LEVEL: __, ...where } = world.env;
      const stack = { ...where, DATABASE_URL: world.databaseUrl };
      const lines = Object.entries(stack).map(([name, value]) => `${name}=${value}\n`);
      await writeFile(join(dataDir, 'stack.env'), lines.join(''));
      await sendRaw(world, `${UPLOADS}-dead-letters`, 'x');
      const env = { PASTEFLOW_DATA_DIR: dataDir, AWS_PROFILE: 'mine' };
      const child = spawnCommand('ops', ['status', '--json'], env);
      expect([await child.exited, child.stderr]).toEqual([{ code: 0, signal: null }, []]);
      const { queues } = JSON.parse(child.stdout.join('\n')) as Status;
      expect(queues[1]).toMatchObject({ visible: 1, error: null });

      const sweep = spawnCommand('janitor', ['--once', 'cleanup'], env);
      expect([await sweep.exited, sweep.stdout]).toMatchObject([
        { code: 0 },
        [expect.stringMatching(/^\{.*\}$/)],
      ]);

      const another = spawnCommand('ops', ['status'], {
        ...env,
        DATABASE_URL: 'postgres://pasteflow:x@127.0.0.1:1/none',
      });
      expect((await another.exited).code).toBe(78); // another Postgres must not be combined with these queues
      expect(another.stderr.join('\n')).toContain('AWS_ENDPOINT_URL is missing');
      expect(another.stderr.join('\n')).toContain('environment names a part of another system');
    } finally {
      await rm(dataDir, { recursive: true });
    }
  });
});

describe('a command whose log cannot be written', () => {
  const ran = async (redirection: string, entry: string, args: readonly string[] = [], env = {}) => {
    const file = new URL(`../../../${entry}`, import.meta.url).pathname;
    const node = [process.execPath, '--disable-warning=ExperimentalWarning', '--conditions=source'] as const;
    const command = spawnProgram(['sh', '-c', `exec "$@" ${redirection}`, 'sh', ...node, file, ...args], {
      // With the modules that Node keeps compiled, a start from the sources takes half the CPU time.
      env: {
        ...world.env,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        LOG_LEVEL: 'debug',
        ...env,
      },
    });
    const { code } = await command.exited;
    return { code, stdout: command.stdout.join('\n'), stderr: command.stderr.join('\n') };
  };

  it('does its work: ops, a single sweep, and the migration, which prints nothing else', async () => {
    expect(await ran('2>/dev/full', 'services/janitor/src/ops-main.ts', ['status'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Pasteflow at '),
    });
    expect(await ran('2>/dev/full', 'services/janitor/src/main.ts', ['--once', 'cleanup'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\{/),
    });
    const migrated = await ran('>/dev/full 2>/dev/full', 'packages/postgres/src/migrate-main.ts', [], {
      DATABASE_URL: world.databaseUrl,
    });
    expect(migrated.code).toBe(0);
  });

  it('fails when its answer cannot be written, and says so', async () => {
    const { code, stderr } = await ran('>/dev/full', 'services/janitor/src/ops-main.ts', ['status']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('The answer could not be written: ENOSPC')]);
  });
});
