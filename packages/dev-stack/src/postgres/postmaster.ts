import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onParentDeath } from '../child-command.ts';
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

// Recovery after a kill -9 replays at most the writes of one checkpoint interval, which takes seconds on a
// slow disk.
const READY_WITHIN_MS = 120_000;
const STOP_WITHIN_MS = 20_000;

/**
 * Starts the server on an initialised cluster that no other process uses. Resolves when it accepts
 * connections.
 */
export async function runPostmaster(options: PostmasterOptions): Promise<Postmaster> {
  const deadline = performance.now() + READY_WITHIN_MS;
  for (;;) {
    const child = launch(options);
    const exited = exitOf(child);
    if (await becomesReady(child, options.cluster, deadline)) {
      return { pid: child.pid as number, exited, stop: () => stop(child, exited) };
    }
    const log = readFileSync(options.logFile, 'utf8');
    // The backends of a killed postmaster hold its shared memory until they notice, which takes moments.
    if (log.includes('pre-existing shared memory block') && performance.now() < deadline) {
      await sleep(100);
      continue;
    }
    await stop(child, exited);
    throw failure(options, log);
  }
}

function launch({ binaries, identity, cluster, port, fsync, logFile }: PostmasterOptions): ChildProcess {
  if (existsSync(logFile)) renameSync(logFile, `${logFile}.1`); // one log for this run, and that of the previous run
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    max_connections: 200, // enough for tests that run several copies of the three services
    // The parameters of statements are the content of pastes, and DETAIL of an error can have a whole row.
    log_parameter_max_length: 0,
    log_parameter_max_length_on_error: 0,
    log_error_verbosity: 'terse',
    // synchronous_commit stays on: without it a kill -9 of the server loses commits, which tests check.
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
    // Detached, so that a Ctrl-C in the terminal reaches only this process, which stops the server after its
    // clients.
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

/** @returns false when the server ended, or the deadline passed, before it accepted connections */
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
  // Postgres logs no error code here. Another program may take the port between our check and the server's
  // bind.
  if (/could not bind IPv4 address.*in use/.test(log))
    return portError({ port, setting: 'STACK_POSTGRES_PORT' }, { code: 'EADDRINUSE' });
  const why = /(?:FATAL|PANIC): +(.*)/.exec(log)?.[1] ?? (log.trim().split('\n').at(-1) || 'no reason given');
  return new StackError('postgres-failed', `Postgres does not start (${why}). Read its log in ${logFile}.`);
}
