/** Content that waits until it is in S3. A table of its own, so that status updates of `pastes` stay small. */
export interface PastePayloadsTable {
  paste_id: string;
  content: Buffer;
}
