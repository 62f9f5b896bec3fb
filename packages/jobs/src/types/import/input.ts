import type { ChosenOptions } from '@pasteflow/domain';

/** The paste of an entry. */
export interface EntryPaste extends ChosenOptions {
  readonly content: Buffer;
}

/** The paste of an entry, with the entry's position and name. */
export interface PositionedPaste {
  readonly position: number;
  readonly name: string | null;
  readonly paste: EntryPaste;
}

/** An entry of an import. */
export interface Entry {
  /** From 0, and the same in every attempt: positions show which entries earlier attempts have imported. */
  readonly position: number;
  /** Its path in an archive; null for items and lines. */
  readonly name: string | null;
  /** macOS has added it to the archive: no paste is made of it. */
  readonly isSkipped?: boolean;
  /** Parses the entry. @throws InvalidEntryError */
  readonly read: () => EntryPaste;
}

/** The entries of an import. */
export interface Input {
  readonly total: number;
  entries(): AsyncIterable<Entry> | Iterable<Entry>;
}

/**
 * The import is impossible, or a quota has stopped it, and another attempt would find the same. The message is shown to the
 * job's owner.
 */
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
