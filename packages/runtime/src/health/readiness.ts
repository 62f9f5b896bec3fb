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
  /** The kinds of work that operators have paused. It changes nothing else. Missing when it is not known. */
  readonly paused?: readonly string[];
}

/** The results of all checks, and when the checks began. */
interface CheckRun {
  readonly beganAt: number;
  readonly results: Promise<Pick<ReadinessReport, 'checks' | 'paused'>>;
}

/**
 * The results are reused for this long after the checks began. A check costs a statement and a request to S3
 * and SQS, and everybody may send probes.
 */
const REUSED_FOR_MS = 1000;
/** As often as that is enough to tell that S3 and SQS answer, whose requests are paid for. Failures are reused for a second. */
const PAID_REUSED_FOR_MS = 30_000;

/** Whether a process can take work: it has started, is not stopping, and its dependencies answer. */
export class Readiness {
  readonly #options;
  readonly #checks = new Map<
    string,
    { readonly check: Check; readonly required: boolean; readonly paid: boolean; passedAt: number }
  >();
  #readPaused: (() => Promise<readonly string[]>) | undefined;
  #phase: 'starting' | 'running' | 'stopping' = 'starting';
  #latest: CheckRun | undefined;

  constructor(
    options: {
      /** The timeout of a check. Default: 1000, since load balancers commonly give up after 2 s or more. */
      readonly timeoutMs?: number;
      /** Milliseconds, for tests. Default: a monotonic clock. */
      readonly now?: () => number;
      /** Called for each failed check. The report, which strangers may read, does not contain the reason. */
      readonly onCheckFailed?: (name: string, error: unknown) => void;
    } = {},
  ) {
    this.#options = options;
  }

  /**
   * A failed check that is not required is reported, and the process stays ready: pastes can be created while
   * SQS is down. A check that is paid for is repeated each 30 s while it passes.
   */
  addCheck(
    name: string,
    check: Check,
    { required = true, paid = false }: { readonly required?: boolean; readonly paid?: boolean } = {},
  ): void {
    this.#checks.set(name, { check, required, paid, passedAt: -Infinity });
    this.#latest = undefined;
  }

  /** The report names what this reads, if it answers in time. */
  showPaused(read: () => Promise<readonly string[]>): void {
    this.#readPaused = read;
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

  get starting(): boolean {
    return this.#phase === 'starting';
  }

  get stopping(): boolean {
    return this.#phase === 'stopping';
  }

  /**
   * The checks run at most once a second, however many requests arrive. The start and the stop of the process
   * show at once.
   */
  async report(): Promise<ReadinessReport> {
    const now = this.#options.now?.() ?? performance.now();
    if (this.#latest === undefined || now - this.#latest.beganAt >= REUSED_FOR_MS)
      this.#latest = { beganAt: now, results: this.#runChecks(now) };
    const { checks, ...paused } = await this.#latest.results;
    const passed = Object.values(checks).every(({ state, required }) => state === 'ok' || !required);
    const ready = passed && this.#phase === 'running';
    const status = this.#phase === 'running' ? (passed ? 'ready' : 'not_ready') : this.#phase;
    return { ready, status, checks, ...paused };
  }

  async #runChecks(now: number): Promise<Pick<ReadinessReport, 'checks' | 'paused'>> {
    let paused: readonly string[] | undefined;
    const reading = this.#runCheck('paused', async () => (paused = await this.#readPaused?.()));
    const results = await Promise.all(
      [...this.#checks].map(async ([name, each]) => {
        const { check, required, paid } = each;
        if (paid && now - each.passedAt < PAID_REUSED_FOR_MS)
          return [name, { state: 'ok', required }] as const;
        const state = await this.#runCheck(name, check);
        each.passedAt = state === 'ok' ? now : -Infinity;
        return [name, { state, required }] as const;
      }),
    );
    await reading;
    return { checks: Object.fromEntries(results), ...(paused !== undefined && { paused }) };
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
