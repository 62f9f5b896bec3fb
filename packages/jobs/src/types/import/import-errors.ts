/** The import as a whole is impossible, and another attempt would find the same. The message is shown to the job's owner. */
export class ImportRefusedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ImportRefusedError';
  }
}

/** This entry cannot become a paste; other entries may. The message gives the reason. */
export class InvalidEntryError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'InvalidEntryError';
  }
}
