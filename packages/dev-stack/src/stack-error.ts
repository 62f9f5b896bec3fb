/** The closed list of reasons why the embedded stack cannot run. */
export type StackErrorCode =
  | 'configuration'
  | 'data-folder-in-use'
  | 'data-folder-unusable'
  | 'data-folder-version'
  | 'port-in-use'
  | 'port-unusable'
  | 'postgres-unavailable'
  | 'postgres-failed'
  | 'aws-emulator-failed'
  | 'migrations-failed'
  | 'service-failed';

/**
 * An error that the user can correct. The message says what is wrong and what to do; entry points print only
 * the message.
 */
export class StackError extends Error {
  readonly code: StackErrorCode;

  constructor(code: StackErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'StackError';
    this.code = code;
  }
}

/** Prints a line for the user at the terminal. */
export type Report = (line: string) => void;
