import { sql, type Selectable } from 'kysely';
import type { StoredOptions, Visibility } from '@pasteflow/domain';
import type { Database } from '../database/database.ts';
import { anyOf } from '../database/planner.ts';
import { compiledOnce, prepared } from '../database/prepared.ts';
import { isThere, withReaders, type PastesTable } from '../schema/pastes.ts';

export type PasteRow = Omit<Selectable<PastesTable>, 'visibility'> & {
  readonly visibility: Visibility;
  /**
   * The paste was deleted, is being deleted, or has expired by the clock of the database. Nobody may read it.
   */
  readonly gone: boolean;
};

/** What clients are shown of a paste. */
export type PublicPaste = StoredOptions &
  Pick<
    PasteRow,
    | 'short_code'
    | 'status'
    | 'deletion_status'
    | 'content_hash'
    | 'size_bytes'
    | 'created_at'
    | 'expires_at'
    | 'processed_at'
    | 'failure_reason'
    | 'version'
    | 'held_at'
    | 'superseded_by'
    | 'burned_at'
  >;

function rows(db: Database) {
  const gone = sql<boolean>`NOT ${isThere('pastes')}`.as('gone');
  return db.selectFrom('pastes').modifyFront(prepared).selectAll().select(gone);
}

/** The paste with this short code, in any state; null: there is none. */
export async function findPaste(db: Database, shortCode: string): Promise<PasteRow | null> {
  const row = await rows(db).where('short_code', '=', shortCode).executeTakeFirst();
  return row === undefined ? null : withReaders(row);
}

const selectPastes = compiledOnce((db, shortCodes: readonly string[]) =>
  rows(db)
    .where(sql<boolean>`short_code = ${anyOf(shortCodes, 'text')}`)
    .compile(),
);

/** The pastes with these short codes, in any state, by their code. */
export async function findPastes(
  db: Database,
  shortCodes: readonly string[],
): Promise<ReadonlyMap<string, PasteRow>> {
  const found = await selectPastes(db, shortCodes);
  return new Map(found.map((row) => [row.short_code, withReaders(row)]));
}

/** The paste with this slug, in any state; null: there is none. */
export async function findPasteBySlug(db: Database, slug: string): Promise<PasteRow | null> {
  const row = await rows(db).where('slug', '=', slug).executeTakeFirst();
  return row === undefined ? null : withReaders(row);
}

/**
 * Deletes a paste for a user: nobody reads the paste from the commit on, and the cleanup deletes its
 * object. A paste that was retried meanwhile has another id: the paste that replaced it is deleted. A retry
 * that commits while the first statement waits for its lock is visible only to the second.
 * @returns false when the paste was gone already
 */
export async function requestDeletion(db: Database, id: string): Promise<boolean> {
  return (await requestOnce(db, id)) || (await requestOnce(db, id));
}

async function requestOnce(db: Database, id: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('pastes')
    .set({ deletion_requested_at: sql<Date>`now()` })
    .where(
      sql<boolean>`id = ANY (ARRAY(SELECT ${id}::uuid UNION ALL SELECT paste_id FROM paste_retries WHERE retried_from = ${id}))`,
    )
    .where(isThere('pastes'))
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** The content of an upload that has not settled; null: the upload has settled. */
export async function readPayload(db: Database, pasteId: string): Promise<Buffer | null> {
  const row = await db
    .selectFrom('paste_payloads')
    .modifyFront(prepared)
    .select('content')
    .where('paste_id', '=', pasteId)
    .executeTakeFirst();
  return row?.content ?? null;
}
