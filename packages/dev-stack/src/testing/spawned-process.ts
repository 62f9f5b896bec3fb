import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { createInterface } from 'node:readline';
import { onParentDeath } from '../child-command.ts';
import { until } from './until.ts';

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
