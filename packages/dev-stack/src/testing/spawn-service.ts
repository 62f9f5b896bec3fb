import { spawn, type ChildProcess } from 'node:child_process';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { bundleCommand, sourceCommand } from '../child-command.ts';
import { REPOSITORY } from '../stack-config.ts';
import { bundleOf } from './service-bundles.ts';

/** The setting with which a service works on the Postgres of a test, which does without fsync for speed. */
export const UNSAFE_POSTGRES = { ALLOW_POSTGRES_TO_LOSE_DATA: 'fsync,full_page_writes' } as const;

export interface SpawnOptions {
  /** The path of the TypeScript entry file. */
  entry: string;
  args?: string[];
  /** Added to PATH, HOME and TMPDIR, the only variables that are inherited, and to UNSAFE_POSTGRES. */
  env?: Record<string, string>;
  /** For error messages. Default: the name of the folder that holds `src`. */
  name?: string;
}

/** Less than the time limit of a test: then the failure names what did not come. */
const PATIENCE_MS = 90_000;

export interface ExitStatus {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface SpawnedService {
  readonly name: string;
  readonly pid: number;
  readonly stdout: readonly string[];
  readonly stderr: readonly string[];
  readonly exited: Promise<ExitStatus>;
  /**
   * Resolves to the first matching line on either stream, past or future. Rejects with the last lines when
   * the process ends first or after `timeoutMs` (default: 90 s).
   */
  waitFor(pattern: RegExp, timeoutMs?: number): Promise<RegExpMatchArray>;
  kill(signal: NodeJS.Signals): void;
  /** Sends SIGTERM, and SIGKILL after 90 s. */
  stop(): Promise<ExitStatus>;
}

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
}: SpawnOptions): SpawnedService {
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
  return new Service(name, child);
}

class Service implements SpawnedService {
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
    this.#collect(child.stdout as Readable, this.stdout);
    this.#collect(child.stderr as Readable, this.stderr);
    // 'close' comes after the last output, 'exit' may come before it.
    this.exited = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => {
        this.#ended = true;
        this.#notify();
        resolve({ code, signal });
      });
    });
    this.exited.catch(() => {}); // without this handler, an error that no caller awaits would end the process
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  waitFor(pattern: RegExp, timeoutMs = PATIENCE_MS): Promise<RegExpMatchArray> {
    return new Promise((resolve, reject) => {
      const settle = (act: () => void) => {
        clearTimeout(timer);
        this.#watchers.delete(check);
        act();
      };
      const giveUp = (why: string) =>
        settle(() =>
          reject(
            new Error(
              `${this.name} ${why} without ${pattern}; its last lines:\n${this.#lines.slice(-20).join('\n')}`,
            ),
          ),
        );
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

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async stop(): Promise<ExitStatus> {
    this.kill('SIGTERM');
    const killTimer = setTimeout(() => this.kill('SIGKILL'), PATIENCE_MS);
    const status = await this.exited;
    clearTimeout(killTimer);
    return status;
  }

  #collect(stream: Readable, lines: string[]): void {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      this.#lines.push(line);
      this.#notify();
    });
  }

  #notify(): void {
    for (const watcher of this.#watchers) watcher();
  }
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
): SpawnedService {
  const entry = join(REPOSITORY, 'packages/dev-stack/src/command-main.ts');
  return spawnService({ entry, args: [name, ...args], env, name });
}
