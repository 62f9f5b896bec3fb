import type { PasteOptions } from '@pasteflow/pastes';

/** What an entry becomes. */
export interface EntryPaste extends PasteOptions {
  readonly content: Buffer;
}

/** What an entry became, and which it was. */
export interface PositionedPaste {
  readonly position: number;
  readonly paste: EntryPaste;
}

/** One of what is to be imported. */
export interface Entry {
  /** From 0, the same in every attempt: what has become a paste is told by it. */
  readonly position: number;
  /** Its name in an archive; null where an entry has none before it is read. */
  readonly name: string | null;
  /** Makes the paste of it. @throws InvalidEntryError */
  readonly read: () => EntryPaste;
}

/** What is to be imported. */
export interface Input {
  /** How many entries there are. */
  readonly total: number;
  entries(): AsyncIterable<Entry> | Iterable<Entry>;
}
