/**
 * Fails the attempt for a reason that the owner of the job may read; another attempt may succeed. The
 * messages of all other errors are for operators.
 */
export class WorkFailedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'WorkFailedError';
  }
}

/**
 * Gives the job back for `delayMs`, without spending an attempt: what it has made stays, and its consumer
 * serves others meanwhile.
 */
export class WorkYieldedError extends Error {
  readonly delayMs: number;

  constructor(delayMs: number) {
    super('The job waits until fewer uploads of its user are open.');
    this.name = 'WorkYieldedError';
    this.delayMs = delayMs;
  }
}
