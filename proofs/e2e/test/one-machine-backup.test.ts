// infra/one-machine/backup as it runs beside containers. A stand-in of docker answers for Postgres; the proof one-machine has the real one.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { until } from '@pasteflow/dev-stack/testing';
import { ROOT } from '../src/entries.ts';

let folder: string;
let backups: string;
let script: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pasteflow-backup-'));
  backups = join(folder, 'backups');
  script = join(folder, 'infra/one-machine/backup');
  cpSync(join(ROOT, 'infra/one-machine/backup'), script);
  writeFileSync(join(folder, '.env'), `OBJECTS_FOLDER=${folder}/objects\n`);
  mkdirSync(join(folder, 'objects'));
  writeFileSync(join(folder, 'objects/x'), 'content');
  program(
    'docker',
    'case "$*" in *pg_database_size*) echo 1000 ;; *pg_dump*) echo dump ;; *) exit 9 ;; esac',
  );
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** Puts a program before all others. */
function program(name: string, body: string): void {
  const path = join(folder, 'bin', name);
  mkdirSync(join(folder, 'bin'), { recursive: true });
  writeFileSync(path, `#!/bin/bash\n${body}\n`);
  chmodSync(path, 0o755);
}

// oxlint-disable-next-line node/no-process-env -- what any program needs to run
const env = () => ({ PATH: `${join(folder, 'bin')}:${process.env.PATH}` });

const run = (...parameters: string[]) =>
  spawnSync(script, [backups, ...parameters], { encoding: 'utf8', env: env() });

const kept = () => readdirSync(backups);

const objectIn = (backup: string) =>
  spawnSync('tar', ['-xzOf', join(backup, 'objects.tar.gz'), 'objects/x'], { encoding: 'utf8' }).stdout;

const made = (date: string) => {
  mkdirSync(join(backups, date), { recursive: true });
  return date;
};

const daysAgo = (days: number) =>
  `${new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)}T03-15-00Z`;

it('makes a dated folder with the dump, the objects and the settings, which nobody else reads', () => {
  expect(run()).toMatchObject({ status: 0, stderr: '' });
  const [name = ''] = kept();
  expect(name).toMatch(/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ$/);
  const backup = join(backups, name);
  expect(readdirSync(backup)).toEqual(['.env', 'objects.tar.gz', 'pasteflow.dump']);
  expect(readFileSync(join(backup, 'pasteflow.dump'), 'utf8')).toBe('dump\n');
  expect(objectIn(backup)).toBe('content');
  for (const path of [backups, backup, join(backup, 'pasteflow.dump'), join(backup, 'objects.tar.gz')])
    expect(statSync(path).mode & 0o077).toBe(0);
});

it('follows links to another disk', () => {
  for (const name of ['objects', '.env']) {
    renameSync(join(folder, name), join(folder, `${name} on & of another disk`));
    symlinkSync(join(folder, `${name} on & of another disk`), join(folder, name));
  }
  expect(run()).toMatchObject({ status: 0, stderr: '' });
  const backup = join(backups, kept()[0]!);
  expect(objectIn(backup)).toBe('content');
  expect(lstatSync(join(backup, '.env')).isFile()).toBe(true);
});

it('removes what is older than its days, and nothing else', () => {
  const recent = made(daysAgo(6));
  for (const old of [made(daysAgo(8)), made('2020-01-01T03-15-00Z')]) expect(kept()).toContain(old);
  const others = [made('2020-of-mine'), made('2020-of-mine.unfinished')];
  expect(run('7').status).toBe(0);
  expect(kept()).toEqual([...others, recent, expect.any(String)]);
});

it('keeps the newest one, however old it is, until there is another', async () => {
  made('2020-01-01T03-15-00Z');
  const newest = made('2020-01-02T03-15-00Z');
  program('tar', 'exit 2');
  expect(run()).toMatchObject({ status: 1, stderr: 'There is no new backup: tar failed.\n' });
  expect(kept()).toEqual([newest]);
  rmSync(join(folder, 'bin/tar'));
  expect(run().status).toBe(0);
  await until(() => run('1').status === 0); // the name of another one has another second
  expect(kept()).not.toContain(newest);
});

it('does not begin when there is too little room, and leaves nothing when the dump fails', () => {
  program('docker', 'case "$*" in *pg_database_size*) echo 1000000000000000000 ;; *) exit 1 ;; esac');
  expect(run()).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/ has \d+ MB free, of \d+ MB that it needs\.\n$/),
  });
  program('docker', 'case "$*" in *pg_database_size*) echo 1000 ;; *) echo part; exit 1 ;; esac');
  expect(run()).toMatchObject({ status: 1, stderr: 'There is no new backup: pg_dump failed.\n' });
  expect(kept()).toEqual([]);
});

it('counts an object that was deleted meanwhile as none', () => {
  program('tar', '/usr/bin/tar "$@"; exit 1');
  expect(run().status).toBe(0);
});

it('makes one at a time, and removes what a killed one has left', async () => {
  program('docker', `case "$*" in *pg_database_size*) echo 1000 ;; *) touch ${folder}/dumping; read ;; esac`);
  const first = spawn(script, [backups], { env: env(), stdio: ['pipe', 'ignore', 'ignore'] });
  const ended = once(first, 'exit');
  await until(() => existsSync(join(folder, 'dumping')));
  expect(run()).toMatchObject({ status: 1, stderr: 'There is no new backup: another one is being made.\n' });
  first.kill('SIGKILL');
  first.stdin.end();
  await ended;
  expect(kept()).toEqual([expect.stringMatching(/\.unfinished$/)]);
  program('docker', 'case "$*" in *pg_database_size*) echo 1000 ;; *) echo dump ;; esac');
  await until(() => run().status === 0); // its child holds the lock until it has ended
  expect(kept()).toEqual([expect.stringMatching(/Z$/)]);
});

it.each([['0'], ['-1'], ['x'], ['7', 'more']])('refuses %s', (...parameters) => {
  expect(run(...parameters)).toMatchObject({ status: 2, stderr: expect.stringContaining('usage') });
  expect(existsSync(backups)).toBe(false);
});

it('shows how it is called instead of a backup into --help', () => {
  const shown = spawnSync(script, ['--help'], { encoding: 'utf8', env: env(), cwd: folder });
  expect(shown).toMatchObject({ status: 2, stderr: expect.stringContaining('usage') });
  expect(existsSync(join(folder, '--help'))).toBe(false);
});
