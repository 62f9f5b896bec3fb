import { spawnService, type ExitStatus, type SpawnedProcess } from '@pasteflow/dev-stack/testing';
import { entryOf, type ServiceName } from './entries.ts';

/** A line of a service's JSON log. */
export interface LogLine {
  readonly message: string;
  readonly level: string;
  readonly [field: string]: unknown;
}

export type ServiceEnvironment = Readonly<Record<string, string>> & {
  readonly METRICS_PORT: string;
};

export interface StartOptions {
  /** The folder of another version. Default: this one. */
  readonly checkout?: string;
  /** Added to the environment, for this process only. */
  readonly env?: Readonly<Record<string, string>>;
  /** In ms. Default: 90 s. */
  readonly within?: number;
}

/**
 * The maximum number of characters of a log line in a failure message. The stack and the cause of an error
 * come last, and are long.
 */
const MAX_TAIL_LINE = 400;

/** One instance of a service, which can be killed and restarted with the same ports and environment. */
export class Service {
  readonly name: ServiceName;
  readonly env: ServiceEnvironment;
  /** Every process so far, the current one last. */
  readonly #processes: SpawnedProcess[] = [];

  constructor(name: ServiceName, env: ServiceEnvironment) {
    this.name = name;
    this.env = env;
  }

  /** Resolves when the service has logged that it has started. */
  async start({ checkout, env = {}, within = 90_000 }: StartOptions = {}): Promise<void> {
    const process = spawnService({
      entry: entryOf(this.name, checkout),
      env: { ...this.env, ...env },
      name: this.name,
    });
    this.#processes.push(process);
    await process.waitFor(/"message":"service started"/, within);
  }

  /** Sends SIGTERM, as an orchestrator does. Resolves to the exit status. */
  async stop(): Promise<ExitStatus> {
    return await this.#current.stop();
  }

  /** Sends SIGKILL. Resolves when the process has ended. */
  async kill(): Promise<void> {
    this.#current.kill('SIGKILL');
    await this.#current.exited;
  }

  /** Sends a signal, for example SIGSTOP or SIGCONT, and waits for nothing. */
  signal(signal: NodeJS.Signals): void {
    this.#current.kill(signal);
  }

  get pid(): number {
    return this.#current.pid;
  }

  /** Resolves when the current process has ended. */
  get exited(): Promise<ExitStatus> {
    return this.#current.exited;
  }

  /** The base URL of /healthz, /readyz and /metrics. */
  get metricsUrl(): string {
    return `http://127.0.0.1:${this.env.METRICS_PORT}`;
  }

  /** All log lines so far, also those of earlier processes. */
  get log(): LogLine[] {
    return this.#lines.flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as LogLine] : []));
  }

  /** Every line on stdout and stderr so far, also those of earlier processes. */
  get output(): string[] {
    return this.#processes.flatMap((process) => [...process.stdout, ...process.stderr]);
  }

  /** The last lines on stderr, for failure messages. */
  tail(lines = 12): string {
    const last = this.#lines.slice(-lines).map((line) => line.slice(0, MAX_TAIL_LINE));
    return [`--- the last lines of ${this.name}:`, ...last].join('\n');
  }

  get #lines(): string[] {
    return this.#processes.flatMap((process) => process.stderr);
  }

  get #current(): SpawnedProcess {
    const current = this.#processes.at(-1);
    if (current === undefined) throw new Error(`${this.name} has not been started`);
    return current;
  }
}
