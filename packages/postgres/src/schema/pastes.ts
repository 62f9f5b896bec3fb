import {
  storedOptionNames,
  type ContentEncoding,
  type OptionsWith,
  type PasteDeletionState,
  type PasteUploadState,
  type StoredOption,
  type StoredOptions,
  type TakedownClass,
  type Visibility,
} from '@pasteflow/domain';
import { type ColumnType, type Generated, type RawBuilder, type Selectable, sql } from 'kysely';

/**
 * The options of a paste, whose meaning the domain says. A flag or a choice has a default. The readers are two columns:
 * a paste for members is `private` with `for_members`.
 */
type OptionColumns = {
  [Name in Exclude<StoredOption, 'visibility'>]: Name extends OptionsWith<{
    readonly kind: 'flag' | 'choice';
  }>
    ? Generated<StoredOptions[Name]>
    : StoredOptions[Name];
};

export interface PastesTable extends OptionColumns {
  id: Generated<string>;
  short_code: string;
  /** NULL for an anonymous paste. */
  user_id: string | null;
  visibility: Generated<'unlisted' | 'private'>;
  /** Beside the owner, everyone who is signed in reads the paste. It is also `private`. */
  for_members: Generated<boolean>;
  /** The number among the pastes that the slug has named; NULL: the slug was never moved. */
  version: number | null;
  /**
   * The short code of the paste that has superseded this one last. A trigger sets it when that paste is stored, and
   * nothing takes it back: that paste may have ended.
   */
  superseded_by: string | null;
  status: Generated<PasteUploadState>;
  /** `sha256:` and 64 hex digits, of the content. */
  content_hash: string;
  size_bytes: number;
  /** `s3://bucket/key`. Set exactly while PROCESSED. */
  s3_url: string | null;
  /**
   * How the object was compressed when the upload settled; NULL: not at all. The object itself names its
   * encoding, and counts when the two differ: a late put of another worker may have replaced it.
   */
  stored_encoding: ContentEncoding | null;
  /** Set exactly while FAILED. */
  failure_reason: string | null;
  created_at: Generated<Date>;
  /** NULL: never. */
  expires_at: Date | null;
  /**
   * When the user, an operator or the one reader ended the paste; NULL: nobody did. A paste with a value is
   * never served again.
   */
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
  /** When a reveal has read the paste; NULL: none has. */
  burned_at: Date | null;
  /** SHA-256 of the key of the reader who has revealed the paste, and may repeat that for five minutes. */
  reader_key_hash: Buffer | null;
  /** Who was signed in and has revealed the paste; NULL: nobody, somebody else, or an erased user. */
  read_by: string | null;
  /**
   * Since when so many have reported the paste that only its owner reads it, until an operator has decided;
   * NULL: it is not held.
   */
  held_at: Date | null;
  /** `stored_usage` counts the paste until it is DELETED. */
  counted: Generated<boolean>;
}

/**
 * The columns that the services insert, all of them by `insertPastes`: the api creates, the worker imports,
 * and the janitor retries.
 */
export const insertedPasteColumns = [
  'short_code',
  'user_id',
  'content_hash',
  'size_bytes',
  'expires_at',
  'delete_token_hash',
  'counted',
  'for_members',
  ...storedOptionNames,
] as const satisfies readonly (keyof PastesTable)[];

/** Content that is not in S3 yet. A separate table, so that status updates of `pastes` stay small. */
export interface PastePayloadsTable {
  paste_id: string;
  content: Buffer;
  /** user_id and created_at are those of the paste: the list of an owner's pastes IN_PROGRESS reads them. */
  user_id: string | null;
  created_at: Generated<Date>;
}

/** The content of FAILED pastes, kept for a retry until the row is removed. */
export interface FailedPayloadsTable {
  paste_id: string;
  content: Buffer;
}

/** A retry of a FAILED paste: a new paste has replaced it under the same short code. */
export interface PasteRetriesTable {
  /** The id of the FAILED paste, whose row is gone. */
  retried_from: string;
  /** The executions of the FAILED paste. */
  execution_ids: Generated<string[]>;
  /** The paste that has the short code now. */
  paste_id: string;
  /** Of the FAILED paste, as are the next two. */
  created_at: Date;
  failed_at: Date;
  failure_reason: string;
  retried_at: Generated<Date>;
  actor: string;
  /** Why, in the words of the operator; NULL: none were given. */
  reason: string | null;
}

/** A paste that a slug names or has named. Only `move_slug` writes here. */
export interface SlugVersionsTable {
  /** The id of the first paste that the slug has named since somebody took it. */
  lineage: string;
  /** From 1, the oldest. A version that is removed leaves a gap. */
  number: number;
  paste_id: string;
  slug: string;
  named_at: Date;
  actor: string;
}

/** A field of a paste that its owner has changed. Only `change_paste` writes here. */
export interface PasteChangesTable {
  id: Generated<string>;
  paste_id: string;
  field: 'title' | 'syntax' | 'visibility' | 'expires_at';
  /** Of the readers and the expiry; NULL: it never expired, or the field tells of the content. */
  from: string | null;
  to: string | null;
  changed_at: Generated<Date>;
  changed_by: 'owner' | 'delete_token';
  actor: string;
}

/** Which paste an operator took down, who, and why. The row outlives the paste. */
export interface TakedownsTable {
  paste_id: string;
  short_code: string;
  content_hash: string;
  class: TakedownClass;
  /** In the words of the operator, for operators. */
  reason: string;
  actor: string;
  taken_down_at: Generated<Date>;
}

/**
 * Content of which no paste is created. At most one block of the same content is in force; those that were
 * lifted stay as a record.
 */
export interface ContentBlocksTable {
  id: Generated<string>;
  /** `sha256:` and 64 hex digits. */
  content_hash: string;
  class: TakedownClass;
  /** In the words of the operator, for operators. */
  reason: string;
  actor: string;
  blocked_at: Generated<Date>;
  /** The short codes of pastes of the last minute that had the content before the block. They stay. */
  older: Generated<string[]>;
  /** NULL: the block is in force. The two that follow are set with it. */
  unblocked_at: Date | null;
  unblocked_by: string | null;
  unblock_reason: string | null;
}

/**
 * Whether a paste is there: nobody has asked for its deletion, no cleanup and no reveal has claimed it, and
 * it has not expired. Every read, list, report, retry, reveal and deletion asks this, and nothing else. Only the
 * expiry is compared with the clock: a deletion is a fact, and stays one when the clock of Postgres steps back.
 * CHECKs give each paste that was taken down or revealed a `deletion_requested_at`, and each paste that is not
 * NOT_EXPIRED a `deletion_initiated_at`.
 * @param paste the table's name or alias in the statement
 * @param at the time of the transaction, or, where a function has waited for a lock, the time of the question
 */
export const isThereAt = (paste: string, at: 'now()' | 'clock_timestamp()'): string =>
  `(${paste}.deletion_initiated_at IS NULL AND ${paste}.deletion_requested_at IS NULL
    AND (${paste}.expires_at IS NULL OR ${paste}.expires_at > ${at}))`;

/** For statements, whose transactions wait for no lock before they ask. */
export const isThere = (paste: string): RawBuilder<boolean> => sql.raw(isThereAt(paste, 'now()'));

/** The readers of a row, in which a paste for members is `private`. Changes the row, because rows have many columns. */
export function withReaders<Row extends Pick<Selectable<PastesTable>, 'visibility' | 'for_members'>>(
  row: Row,
): Omit<Row, 'visibility'> & { readonly visibility: Visibility } {
  return row.for_members ? Object.assign(row, { visibility: 'members' as const }) : row;
}

/** The same in SQL. */
export const readersOf = (paste: string): string =>
  `CASE WHEN ${paste}.for_members THEN 'members' ELSE ${paste}.visibility END`;

/**
 * Whether a user may read the paste: its owner always, everybody else unless it is private or held, and those who are
 * signed in also one for members.
 * @param userId a uuid; NULL: anybody
 */
export function isOpenTo(paste: string, userId: RawBuilder<unknown>): RawBuilder<boolean> {
  const column = (name: string) => sql.ref(`${paste}.${name}`);
  return sql<boolean>`((${column('visibility')} <> 'private' OR ${column('for_members')} AND ${userId} IS NOT NULL)
    AND ${column('held_at')} IS NULL OR coalesce(${column('user_id')} = ${userId}, false))`;
}
