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
