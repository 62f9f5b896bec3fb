import { setTimeout as wait } from 'node:timers/promises';

/**
 * Resolves when the dependency answers, and rejects when it does not. The signal is aborted when the result
 * is no longer needed.
 */
export type Check = (signal: AbortSignal) => Promise<unknown>;

export type CheckState = 'ok' | 'failed' | 'timed_out';

export interface ReadinessReport {
  /** Whether the process can take work: 200 or 503. */
  readonly ready: boolean;
  readonly status: 'starting' | 'ready' | 'not_ready' | 'stopping';
  readonly checks: Readonly<Record<string, { readonly state: CheckState; readonly required: boolean }>>;
}

export interface ReadinessOptions {
  /** The timeout of a check. Default: 1000, since load balancers commonly give up after 2 s or more. */
  readonly timeoutMs?: number;
  /** Called for each failed check. The report, which strangers may read, does not contain the reason. */
  readonly onCheckFailed?: (name: string, error: unknown) => void;
}

/** Whether a process can take work: it has started, is not stopping, and its dependencies answer. */
export class Readiness {
  readonly #options: ReadinessOptions;
  readonly #checks = new Map<string, { readonly check: Check; readonly required: boolean }>();
  #phase: 'starting' | 'running' | 'stopping' = 'starting';
  #current: Promise<ReadinessReport> | undefined;

  constructor(options: ReadinessOptions = {}) {
    this.#options = options;
  }

  /**
   * A failed check that is not required is reported, and the process stays ready: pastes can be created while
   * SQS is down.
   */
  addCheck(name: string, check: Check, { required = true }: { readonly required?: boolean } = {}): void {
    this.#checks.set(name, { check, required });
  }

  /** @returns false when the process was stopped before it had started */
  markStarted(): boolean {
    if (this.#phase === 'starting') this.#phase = 'running';
    return this.#phase === 'running';
  }

  /** From now on the process is not ready, whatever the result of the checks. */
  markStopping(): void {
    this.#phase = 'stopping';
  }

  get stopping(): boolean {
    return this.#phase === 'stopping';
  }

  /**
   * Requests that arrive while the checks run share one result, so that many requests cost as much as one.
   */
  async report(): Promise<ReadinessReport> {
    this.#current ??= this.#runChecks().finally(() => (this.#current = undefined));
    const report = await this.#current;
    return this.stopping ? { ...report, ready: false, status: 'stopping' } : report;
  }

  async #runChecks(): Promise<ReadinessReport> {
    const results = await Promise.all(
      [...this.#checks].map(async ([name, { check, required }]) => {
        return [name, { state: await this.#runCheck(name, check), required }] as const;
      }),
    );
    const passed = results.every(([, { state, required }]) => state === 'ok' || !required);
    const ready = passed && this.#phase === 'running';
    const status = this.#phase === 'running' ? (passed ? 'ready' : 'not_ready') : this.#phase;
    return { ready, status, checks: Object.fromEntries(results) };
  }

  async #runCheck(name: string, check: Check): Promise<CheckState> {
    const { timeoutMs = 1000, onCheckFailed } = this.#options;
    const over = new AbortController();
    const timeout = wait(timeoutMs, 'timed_out' as const, { signal: over.signal });
    timeout.catch(() => undefined); // The wait is aborted when the check has answered.
    try {
      const outcome = await Promise.race([check(over.signal).then(() => 'ok' as const), timeout]);
      if (outcome === 'timed_out') onCheckFailed?.(name, new Error(`no answer within ${timeoutMs} ms`));
      return outcome;
    } catch (error) {
      onCheckFailed?.(name, error);
      return 'failed';
    } finally {
      over.abort();
    }
  }
}
