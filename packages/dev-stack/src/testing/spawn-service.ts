import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { bundleCommand, onParentDeath, sourceCommand } from '../child-command.ts';
import { REPOSITORY } from '../stack-config.ts';
import { bundleOf } from './service-bundles.ts';
import { until } from './until.ts';

/** The setting with which a service works on the Postgres of a test, which does without fsync for speed. */
export const UNSAFE_POSTGRES = { ALLOW_POSTGRES_TO_LOSE_DATA: 'fsync,full_page_writes' } as const;

/**
 * Runs an entry file with the Node of this process, in a test from its bundle if it has one, and otherwise
 * from its source. On Linux it cannot outlive this process, even after a kill -9. An exit hook would not
 * work, because jest never calls the exit hooks of a test.
 */
export function spawnService({
  entry,
  args = [],
  env = {},
  name = nameOf(entry),
}: {
  /** The path of the TypeScript entry file. */
  entry: string;
  args?: string[];
  /** Added to PATH, HOME and TMPDIR, the only variables that are inherited, and to UNSAFE_POSTGRES. */
  env?: Record<string, string>;
  /** For error messages. Default: the name of the folder that holds `src`. */
  name?: string;
}): SpawnedProcess {
  // oxlint-disable-next-line node/no-process-env -- `sources` selects the sources for a run of all tests
  const bundle = process.env.TEST_SERVICES_FROM === 'bundles' ? bundleOf(entry) : undefined;
  const [command, ...rest] =
    bundle === undefined ? sourceCommand(entry, args, 'KILL') : bundleCommand(bundle, args, 'KILL');
  const child = spawn(command, rest, {
    env: {
      ...inherited(),
      ...UNSAFE_POSTGRES,
      NODE_COMPILE_CACHE: COMPILED,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return new SpawnedProcess(name, child);
}

/** services/api/src/main.ts → api */
function nameOf(entry: string): string {
  return basename(dirname(dirname(entry)));
}

/** Keeps compiled code between starts: a service then starts with half the CPU time. */
const COMPILED = join(REPOSITORY, 'node_modules/.cache/compiled');

/** A process that a test starts must not get the developer's own DATABASE_URL or AWS_PROFILE. */
function inherited(): Record<string, string> {
  // oxlint-disable-next-line node/no-process-env -- not configuration: what any program needs to run at all
  const { PATH = '', HOME = '', TMPDIR = '' } = process.env;
  return { PATH, HOME, ...(TMPDIR && { TMPDIR }) };
}

/**
 * Runs `npm run NAME -- ARGS` without npm: the command finds the embedded stack of the data folder that `env`
 * names.
 */
export function spawnCommand(
  name: 'token' | 'ops' | 'janitor',
  args: readonly string[],
  env: Record<string, string>,
): SpawnedProcess {
  const entry = join(REPOSITORY, 'packages/dev-stack/src/command-main.ts');
  return spawnService({ entry, args: [name, ...args], env, name });
}

export interface ExitStatus {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Less than the time limit of a test: then the failure names what did not come. */
const PATIENCE_MS = 90_000;

/** A process that a test has started, with every line that it has written so far. */
export class SpawnedProcess {
  readonly name: string;
  readonly stdout: string[] = [];
  readonly stderr: string[] = [];
  readonly exited: Promise<ExitStatus>;
  readonly #child: ChildProcess;
  readonly #lines: string[] = [];
  readonly #watchers = new Set<() => void>();
  #ended = false;

  constructor(name: string, child: ChildProcess) {
    this.name = name;
    this.#child = child;
    this.#collect(child.stdout, this.stdout);
    this.#collect(child.stderr, this.stderr);
    // 'close' comes after the last output, 'exit' may come before it.
    this.exited = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => {
        this.#ended = true;
        for (const watcher of this.#watchers) watcher();
        resolve({ code, signal });
      });
    });
    this.exited.catch(() => {}); // without this handler, an error that no caller awaits would end the process
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  /**
   * Resolves to the first matching line on either stream, past or future. Rejects with the last lines when
   * the process ends first or after `timeoutMs`.
   */
  waitFor(pattern: RegExp, timeoutMs = PATIENCE_MS): Promise<RegExpMatchArray> {
    return new Promise((resolve, reject) => {
      const settle = (act: () => void) => {
        clearTimeout(timer);
        this.#watchers.delete(check);
        act();
      };
      const giveUp = (why: string) => settle(() => reject(this.#failure(`${why} without ${pattern}`)));
      let seen = 0;
      const check = () => {
        for (; seen < this.#lines.length; seen += 1) {
          const match = this.#lines[seen]?.match(pattern);
          if (match) return settle(() => resolve(match));
        }
        if (this.#ended) giveUp('ended');
      };
      const timer = setTimeout(() => giveUp(`ran ${timeoutMs} ms`), timeoutMs);
      this.#watchers.add(check);
      check();
    });
  }

  /** Resolves when `probe` returns true. Rejects with the last lines when the process ends first. */
  async untilReady(probe: () => boolean | Promise<boolean>): Promise<void> {
    await until(async () => this.#ended || (await probe()), Boolean, {
      evidence: () => this.#failure('is not ready').message,
    });
    if (this.#ended) throw this.#failure('ended before it was ready');
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Sends SIGTERM, and SIGKILL after 90 s. */
  async stop(): Promise<ExitStatus> {
    this.kill('SIGTERM');
    const killTimer = setTimeout(() => this.kill('SIGKILL'), PATIENCE_MS);
    const status = await this.exited;
    clearTimeout(killTimer);
    return status;
  }

  #collect(stream: ChildProcess['stdout'], lines: string[]): void {
    if (stream === null) return;
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      this.#lines.push(line);
      for (const watcher of this.#watchers) watcher();
    });
  }

  #failure(what: string): Error {
    return new Error(`${this.name} ${what}; its last lines:\n${this.#lines.slice(-20).join('\n')}`);
  }
}

/**
 * Starts a program of this machine. On Linux it cannot outlive this process, even after a kill -9. A missing
 * program ends at once.
 */
export function spawnProgram(
  [program, ...args]: readonly [string, ...string[]],
  options: Pick<SpawnOptions, 'cwd' | 'env' | 'uid' | 'gid'> = {},
): SpawnedProcess {
  const [command = program, ...rest] = [...onParentDeath('KILL'), program, ...args];
  const child = spawn(command, rest, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  return new SpawnedProcess(program, child);
}
