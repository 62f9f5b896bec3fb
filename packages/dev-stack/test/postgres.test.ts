import { afterAll, describe, expect, it } from '@jest/globals';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres, StackError } from '../src/index.ts';
import { findBinaries, majorVersion } from '../src/postgres/binaries.ts';
import { openCluster } from '../src/postgres/cluster.ts';
import { isAlive } from './processes.ts';
import { query } from './query.ts';

const root = mkdtempSync(join(tmpdir(), 'pasteflow-test-'));
const dataDir = join(root, 'postgres');
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe('startPostgres', () => {
  it('keeps its rows across a restart on another port, and leaves no process', async () => {
    const first = await startPostgres({ dataDir, fsync: false });
    await query(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    await first.stop();
    await first.stop();
    expect(isAlive(first.pid)).toBe(false);
    const second = await startPostgres({ dataDir, fsync: false });
    expect(await query(second.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
    await second.stop();
    expect(isAlive(second.pid)).toBe(false);
  });

  it('resolves `exited` when the server is killed, and recovers at the next start', async () => {
    const killed = await startPostgres({ dataDir, fsync: false });
    await query(killed.url, 'CREATE TABLE survivor AS SELECT 1 AS one');
    process.kill(killed.pid, 'SIGKILL');
    await killed.exited;
    await killed.stop();
    const again = await startPostgres({ dataDir, fsync: false });
    expect(await query(again.url, 'SELECT one FROM survivor')).toEqual([{ one: 1 }]);
    await again.stop();
  });

  it('refuses a data folder that is in use, and leaves the server that uses it alone', async () => {
    const first = await startPostgres({ dataDir, fsync: false });
    await expect(startPostgres({ dataDir, fsync: false })).rejects.toMatchObject({
      code: 'data-folder-in-use',
      message: expect.stringContaining(`process ${process.pid}`),
    });
    expect(await query(first.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await first.stop();
  });

  // As another user only root can start it.
  (process.getuid?.() === 0 ? it : it.skip)('names a user without a name as the reason', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pasteflow-test-'));
    chmodSync(folder, 0o755);
    const start = async () =>
      openCluster(folder, await findBinaries(), { kind: 'uid', uid: 54_321 }, { fsync: false });
    await expect(start()).rejects.toMatchObject({
      code: 'postgres-unavailable',
      message: expect.stringMatching(/^Postgres runs only as a user who has a name \(.*54321.*\/etc\/passwd/),
    });
    rmSync(folder, { recursive: true });
  });

  it('names the port that is in use and the setting that changes it, and releases the folder', async () => {
    const blocker = createServer().listen(0, '127.0.0.1').unref();
    await new Promise((resolve) => blocker.once('listening', resolve));
    const { port } = blocker.address() as AddressInfo;
    await expect(startPostgres({ dataDir, port, fsync: false })).rejects.toMatchObject({
      code: 'port-in-use',
      message: expect.stringMatching(new RegExp(`^Port ${port} .* STACK_POSTGRES_PORT .*[.]$`)),
    });
    await new Promise((resolve) => blocker.close(resolve));
    const postgres = await startPostgres({ dataDir, port, fsync: false });
    expect(postgres.port).toBe(port);
    await postgres.stop();
  });

  it('refuses the data of another major version without touching it', async () => {
    const old = join(root, 'old');
    mkdirSync(join(old, 'cluster'), { recursive: true });
    writeFileSync(join(old, 'cluster', 'PG_VERSION'), '16\n');
    await expect(startPostgres({ dataDir: old })).rejects.toMatchObject({
      code: 'data-folder-version',
      message: expect.stringMatching(/created by Postgres 16, and this is Postgres 18[.] /),
    });
  });

  it('creates the database again after an initdb that was killed', async () => {
    const unfinished = join(root, 'unfinished');
    mkdirSync(join(unfinished, 'cluster.new', 'base'), { recursive: true });
    writeFileSync(join(unfinished, 'cluster.new', 'PG_VERSION'), '18\n');
    const postgres = await startPostgres({ dataDir: unfinished, fsync: false });
    expect(await query(postgres.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await postgres.stop();
  });

  it('starts although the pid in postmaster.pid now belongs to another program', async () => {
    writeFileSync(join(dataDir, 'cluster', 'postmaster.pid'), `${process.ppid}\n${dataDir}\n`);
    const postgres = await startPostgres({ dataDir, fsync: false });
    await postgres.stop();
    expect(isAlive(process.ppid)).toBe(true);
  });

  it('refuses a data folder that cannot be created', async () => {
    writeFileSync(join(root, 'file'), '');
    const error: unknown = await startPostgres({ dataDir: join(root, 'file', 'data') }).catch(
      (e: unknown) => e,
    );
    expect(error).toBeInstanceOf(StackError);
    expect(error).toMatchObject({ code: 'data-folder-unusable' });
  });
});

describe('a machine on which the embedded Postgres cannot run', () => {
  it.each([
    [
      { platform: 'linux', arch: 'riscv64' },
      /^There is no embedded Postgres for this machine \(linux-riscv64\): .*set DATABASE_URL.*[.]$/,
    ],
    [{ platform: 'win32', arch: 'x64' }, /^The embedded Postgres does not run on Windows[.] .*WSL.*[.]$/],
  ])('gets an error that names the alternative: %j', async (machine, message) => {
    const error = await findBinaries(undefined, machine).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(StackError);
    expect(error).toMatchObject({ code: 'postgres-unavailable', message: expect.stringMatching(message) });
  });

  it('gets an error that names the reason and the alternative when the binary does not start', async () => {
    const binaries = { initdb: join(root, 'initdb'), postgres: join(root, 'postgres-binary') };
    writeFileSync(
      binaries.postgres,
      '#!/bin/sh\necho "error while loading shared libraries" >&2; exit 127\n',
      { mode: 0o755 },
    );
    expect(() => majorVersion(binaries, { kind: 'self' })).toThrow(
      /^The embedded Postgres can't run on this machine \(error while loading shared libraries\): .*set DATABASE_URL.*[.]$/,
    );
  });
});
