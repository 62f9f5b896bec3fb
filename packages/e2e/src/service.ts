import { spawnService, type ExitStatus, type SpawnedService } from '@pasteflow/dev-stack/testing';
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

interface StartOptions {
  /** On top of its environment, for this process only. */
  readonly env?: Readonly<Record<string, string>>;
  /** In ms. Default: 90 s. */
  readonly within?: number;
}

/** Characters of a line in a failure message: an error's stack and cause come last, and are long. */
const MAX_TAIL_LINE = 400;

/** One instance of a service: a process that can be killed and started again, on the same ports, with the same environment. */
export class Service {
  readonly name: ServiceName;
  readonly env: ServiceEnvironment;
  /** Every process so far, the present one last. */
  readonly #processes: SpawnedService[] = [];

  constructor(name: ServiceName, env: ServiceEnvironment) {
    this.name = name;
    this.env = env;
  }

  /** Resolves once it says that it has started. */
  async start({ env = {}, within = 90_000 }: StartOptions = {}): Promise<void> {
    const process = spawnService({
      entry: entryOf(this.name),
      env: { ...this.env, ...env },
      name: this.name,
    });
    this.#processes.push(process);
    await process.waitFor(/"message":"service started"/, within);
  }

  /** SIGTERM, as an orchestrator does it; answers how it ended. */
  async stop(): Promise<ExitStatus> {
    return await this.#current.stop();
  }

  /** SIGKILL; resolves when the process is gone. */
  async kill(): Promise<void> {
    this.#current.kill('SIGKILL');
    await this.#current.exited;
  }

  /** For SIGSTOP and SIGCONT; doesn't wait for anything. */
  signal(signal: NodeJS.Signals): void {
    this.#current.kill(signal);
  }

  get pid(): number {
    return this.#current.pid;
  }

  /** Of the present process; pending while it runs. */
  get exited(): Promise<ExitStatus> {
    return this.#current.exited;
  }

  /** /healthz, /readyz and /metrics are here. */
  get metricsUrl(): string {
    return `http://127.0.0.1:${this.env.METRICS_PORT}`;
  }

  /** Everything logged so far, by earlier processes too. */
  get log(): LogLine[] {
    return this.#lines.flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as LogLine] : []));
  }

  /** Every line on stdout and stderr so far, as it was written, by earlier processes too. */
  get output(): string[] {
    return this.#processes.flatMap((process) => [...process.stdout, ...process.stderr]);
  }

  /** The last lines on stderr, for messages. */
  tail(lines = 12): string {
    const last = this.#lines.slice(-lines).map((line) => line.slice(0, MAX_TAIL_LINE));
    return [`--- ${this.name}, its last lines:`, ...last].join('\n');
  }

  get #lines(): string[] {
    return this.#processes.flatMap((process) => process.stderr);
  }

  get #current(): SpawnedService {
    const current = this.#processes.at(-1);
    if (current === undefined) throw new Error(`${this.name} has not been started`);
    return current;
  }
}
