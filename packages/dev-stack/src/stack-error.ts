/** What can keep the embedded stack from running; closed, so that callers can tell the cases apart. */
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

/** Its message is for people: one sentence that says what is wrong and what to do. Entry points print only that. */
export class StackError extends Error {
  readonly code: StackErrorCode;

  constructor(code: StackErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'StackError';
    this.code = code;
  }
}
