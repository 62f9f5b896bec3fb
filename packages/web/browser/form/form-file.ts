/** Where a file is in the paste that the form starts from. */
export interface FileRange {
  readonly offset: number;
  readonly size: number;
}

/** A file to send. */
export interface FormFile {
  readonly name: string;
  /** The language that was chosen; empty: none. */
  readonly syntax: string;
  readonly content: Blob;
}

/** What a draft has of a file: its text, its place in the paste that the form starts from, or both. */
export interface DraftFile extends Omit<FormFile, 'content'> {
  readonly text: string | null;
  readonly range: FileRange | null;
}
