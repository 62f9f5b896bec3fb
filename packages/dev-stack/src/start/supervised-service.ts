import { spawn, type ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Report } from '../report.ts';
import { aborted } from '../run-main.ts';
import { sourceCommand } from '../source-command.ts';
import type { Environment } from '../stack-config.ts';

export interface ServiceDefinition {
  name: string;
  /** Path of its TypeScript entry file. */
  entry: string;
  env: Environment;
  /** What the service gets when this process is killed. */
  deathSignal: 'TERM' | 'KILL';
}

// A service drains for at most 10 s; the rest is for its way out.
const KILL_AFTER_MS = 12_000;
const STEADY_AFTER_MS = 60_000;

/** Wait before the restart after `failures` (from 1) ends in a row: 1, 2, 4, 8, 16, then 30 s. */
export function restartDelayMs(failures: number): number {
  return Math.min(1000 * 2 ** (failures - 1), 30_000);
}

/**
 * One of the services as a child process, which runs from here on. Once this is told to keep it up, it is started again
 * when it ends by itself.
 */
export class SupervisedService {
  readonly name: string;
  /** How it ended the first time, in words. */
  readonly firstEnd: Promise<string>;
  readonly #definition: ServiceDefinition;
  readonly #report: Report;
  readonly #stopping = new AbortController();
  readonly #keptUp = Promise.withResolvers<void>();
  readonly #supervised: Promise<void>;
  #child: ChildProcess | undefined;

  constructor(definition: ServiceDefinition, report: Report) {
    this.name = definition.name;
    this.#definition = definition;
    this.#report = report;
    const first = Promise.withResolvers<string>();
    this.firstEnd = first.promise;
    this.#supervised = this.#supervise(first.resolve);
  }

  /** To be called when it has come up: what ends before that, ends for a reason that a restart won't mend. */
  keepUp(): void {
    this.#keptUp.resolve();
  }

  /** SIGTERM, and SIGKILL after 12 s. Resolves when it has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#child?.kill('SIGTERM');
    const harder = setTimeout(() => {
      this.#report(`${this.name} has not stopped within ${KILL_AFTER_MS / 1000} s: killing it`);
      this.#child?.kill('SIGKILL');
    }, KILL_AFTER_MS);
    await this.#supervised;
    clearTimeout(harder);
  }

  async #supervise(firstEnded: (how: string) => void): Promise<void> {
    for (let failures = 1; ; failures += 1) {
      const startedAt = performance.now();
      const how = await this.#run();
      firstEnded(how);
      await Promise.race([this.#keptUp.promise, aborted(this.#stopping.signal)]);
      if (this.#stopping.signal.aborted) return;
      if (performance.now() - startedAt > STEADY_AFTER_MS) failures = 1;
      const delay = restartDelayMs(failures);
      this.#report(`${this.name} has ended with ${how}; starting it again in ${delay / 1000} s`);
      await sleep(delay, undefined, { signal: this.#stopping.signal }).catch(() => {});
      if (this.#stopping.signal.aborted) return;
    }
  }

  #run(): Promise<string> {
    const { entry, env, deathSignal } = this.#definition;
    const [command, ...args] = sourceCommand(entry, [], deathSignal);
    return new Promise((resolve) => {
      // Detached: the terminal's Ctrl-C reaches only us, and the services stop in order. Their logs pass as they are.
      const child = spawn(command, args, { env, stdio: ['ignore', 'inherit', 'inherit'], detached: true });
      this.#child = child;
      child.once('error', (error) => resolve(error.message));
      child.once('exit', (code, signal) => resolve(signal ?? `code ${code}`));
    });
  }
}
