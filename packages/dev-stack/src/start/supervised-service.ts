import { spawn, type ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Report } from '../stack-error.ts';
import { aborted } from '../run-main.ts';
import { sourceCommand } from '../child-command.ts';
import type { Environment } from '../stack-config.ts';

export interface ServiceDefinition {
  name: string;
  /** The path of the TypeScript entry file. */
  entry: string;
  env: Environment;
  /** The signal that the service receives when this process is killed. */
  deathSignal: 'TERM' | 'KILL';
}

// A service drains for at most 10 s; 2 s remain for its exit.
const KILL_AFTER_MS = 12_000;
const STEADY_AFTER_MS = 60_000;

/** The wait before a restart after `failures` consecutive failures (from 1): 1, 2, 4, 8, 16, then 30 s. */
export function restartDelayMs(failures: number): number {
  return Math.min(1000 * 2 ** (failures - 1), 30_000);
}

/**
 * Runs a service as a child process from the constructor on. After `keepUp()` the service is restarted
 * whenever it ends without `stop()`.
 */
export class SupervisedService {
  readonly name: string;
  /** The signal, exit code or error with which the process ended for the first time. */
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

  /**
   * Called when the service is ready. A service that ends before that has a problem that a restart does not
   * solve.
   */
  keepUp(): void {
    this.#keptUp.resolve();
  }

  /** Sends SIGTERM, and SIGKILL after 12 s. Resolves when the process has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#child?.kill('SIGTERM');
    const harder = setTimeout(() => {
      this.#report(`${this.name} did not stop within ${KILL_AFTER_MS / 1000} s; killing it`);
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
      this.#report(`${this.name} ended with ${how}; restarting in ${delay / 1000} s`);
      await sleep(delay, undefined, { signal: this.#stopping.signal }).catch(() => {});
      if (this.#stopping.signal.aborted) return;
    }
  }

  #run(): Promise<string> {
    const { entry, env, deathSignal } = this.#definition;
    const [command, ...args] = sourceCommand(entry, [], deathSignal);
    return new Promise((resolve) => {
      // Detached, so that a Ctrl-C in the terminal reaches only this process, which stops the services in
      // order.
      const child = spawn(command, args, { env, stdio: ['ignore', 'inherit', 'inherit'], detached: true });
      this.#child = child;
      child.once('error', (error) => resolve(error.message));
      child.once('exit', (code, signal) => resolve(signal ?? `code ${code}`));
    });
  }
}
