/** A service can't start for a reason that somebody at the terminal can mend: its message is printed, without a stack. */
export class StartError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StartError';
  }
}
