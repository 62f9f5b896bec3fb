/** What is to be imported can't be, as a whole: trying again would not change it. The message is for the job's owner. */
export class ImportRefusedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ImportRefusedError';
  }
}

/** This one entry can't become a paste; the others may. The message says why. */
export class InvalidEntryError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'InvalidEntryError';
  }
}
