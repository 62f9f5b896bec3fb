import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onParentDeath } from '../parent-death.ts';
import { portError } from '../ports.ts';
import { StackError } from '../stack-error.ts';
import type { PostgresBinaries } from './binaries.ts';
import type { Cluster } from './cluster.ts';
import { commandAs, type Identity } from './identity.ts';

export interface PostmasterOptions {
  binaries: PostgresBinaries;
  identity: Identity;
  cluster: Cluster;
  port: number;
  fsync: boolean;
  logFile: string;
}

export interface Postmaster {
  pid: number;
  exited: Promise<void>;
  stop(): Promise<void>;
}

// Recovery after a kill -9 replays at most what one checkpoint interval wrote: seconds, on a slow disk.
const READY_WITHIN_MS = 120_000;
const STOP_WITHIN_MS = 20_000;

/** Starts the server on an initialised cluster nobody else uses; resolves when it takes connections. */
export async function runPostmaster(options: PostmasterOptions): Promise<Postmaster> {
  const deadline = performance.now() + READY_WITHIN_MS;
  for (;;) {
    const child = launch(options);
    const exited = exitOf(child);
    if (await becomesReady(child, options.cluster, deadline)) {
      return { pid: child.pid as number, exited, stop: () => stop(child, exited) };
    }
    const log = readFileSync(options.logFile, 'utf8');
    // Backends of a killed postmaster notice within moments, and hold the shared memory until then.
    if (log.includes('pre-existing shared memory block') && performance.now() < deadline) {
      await sleep(100);
      continue;
    }
    await stop(child, exited);
    throw failure(options, log);
  }
}

function launch({ binaries, identity, cluster, port, fsync, logFile }: PostmasterOptions): ChildProcess {
  if (existsSync(logFile)) renameSync(logFile, `${logFile}.1`); // a log a run, and the one before
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    max_connections: 200, // three services, and tests that run several copies of each
    // Not synchronous_commit: without it a kill -9 of the server loses commits, and tests are about just that.
    ...(fsync ? {} : { fsync: 'off', full_page_writes: 'off' }),
  };
  const { command, args, options } = commandAs(
    identity,
    binaries.postgres,
    ['-D', cluster.dir, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    onParentDeath('INT'),
  );
  const log = openSync(logFile, 'a');
  try {
    // Detached: the terminal's Ctrl-C reaches only us, and the server stops after those who use it.
    return spawn(command, args, { ...options, stdio: ['ignore', log, log], detached: true });
  } finally {
    closeSync(log);
  }
}

function exitOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
}

/** False when the server ended, or the deadline passed, before it took connections. */
async function becomesReady(child: ChildProcess, cluster: Cluster, deadline: number): Promise<boolean> {
  const pidFile = join(cluster.dir, 'postmaster.pid');
  while (isRunning(child) && performance.now() < deadline) {
    // The first line is the pid, the eighth the status; the server rewrites the file in place.
    const lines = existsSync(pidFile) ? readFileSync(pidFile, 'utf8').split('\n') : [];
    if (lines[0] === String(child.pid) && lines[7]?.trim() === 'ready') return true;
    await sleep(10);
  }
  return false;
}

function isRunning(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

async function stop(child: ChildProcess, exited: Promise<void>): Promise<void> {
  if (!isRunning(child)) return;
  child.kill('SIGINT');
  const harder = setTimeout(() => child.kill('SIGQUIT'), STOP_WITHIN_MS);
  await exited;
  clearTimeout(harder);
}

function failure({ port, logFile }: PostmasterOptions, log: string): StackError {
  // Postgres names no error code here; a port taken between our check and its own bind is worth the right words.
  if (/could not bind IPv4 address.*in use/.test(log))
    return portError({ port, setting: 'STACK_POSTGRES_PORT' }, { code: 'EADDRINUSE' });
  const why =
    /(?:FATAL|PANIC): +(.*)/.exec(log)?.[1] ?? (log.trim().split('\n').at(-1) || 'it gave no reason');
  return new StackError('postgres-failed', `Postgres doesn't start (${why}): its log is ${logFile}.`);
}
