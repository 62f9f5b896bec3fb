import type { ColumnType, Generated } from 'kysely';
import type {
  ContentEncoding,
  PasteDeletionState,
  PasteUploadState,
  TakedownClass,
  Visibility,
} from '@pasteflow/domain';

export interface PastesTable {
  id: Generated<string>;
  short_code: string;
  /** NULL for an anonymous paste. */
  user_id: string | null;
  /** `private` only with an owner. */
  visibility: Generated<Visibility>;
  /** A name that the owner has chosen, unique among all rows; NULL: none. Only with an owner, and set at the insert only. */
  slug: string | null;
  title: string | null;
  syntax: string | null;
  /** The client has encrypted the content; `title` and `syntax` are then NULL. */
  encrypted: Generated<boolean>;
  status: Generated<PasteUploadState>;
  /** `sha256:` and 64 hex digits, of the content. */
  content_hash: string;
  size_bytes: number;
  /** `s3://bucket/key`. Set exactly while PROCESSED. */
  s3_url: string | null;
  /**
   * How the object was compressed when the upload settled; NULL: not at all. The object itself names its encoding, and counts when the
   * two differ: a late put of another worker may have replaced it.
   */
  stored_encoding: ContentEncoding | null;
  /** Set exactly while FAILED. */
  failure_reason: string | null;
  created_at: Generated<Date>;
  /** NULL: never. */
  expires_at: Date | null;
  /** When the user, an operator or the one reader ended the paste; NULL: nobody did. A paste with a value is never served again. */
  deletion_requested_at: Date | null;
  processed_at: Date | null;
  failed_at: Date | null;
  deletion_status: Generated<PasteDeletionState>;
  deletion_initiated_at: Date | null;
  deleted_at: Date | null;
  /** SHA-256 of the delete_token; set for anonymous pastes. */
  delete_token_hash: ColumnType<Buffer | null>;
  /** Why an operator took the paste down; NULL: no operator did. */
  taken_down_for: TakedownClass | null;
  /** The paste is deleted when it is read, which only a reveal does. */
  burn: Generated<boolean>;
  /** When a reveal has read the paste; NULL: none has. */
  burned_at: Date | null;
  /** SHA-256 of the key of the reader who has revealed the paste, and may repeat that for five minutes. */
  reader_key_hash: Buffer | null;
  /** The short code of the paste that this one was made from, which may be gone; NULL: none. */
  parent: string | null;
}
