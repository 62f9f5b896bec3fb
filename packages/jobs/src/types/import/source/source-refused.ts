/**
 * The source cannot be imported: it is damaged, hostile, too large or of an unknown format. Another attempt would find the same. The
 * message is a clause about the source, e.g. "it is truncated".
 */
export class SourceRefusedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SourceRefusedError';
  }
}
