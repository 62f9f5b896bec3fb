import { wordsOf } from '@pasteflow/domain';
import { sql } from 'kysely';
import type { Actor } from '../database/actor.ts';
import type { Database } from '../database/database.ts';

/**
 * Claims a stored paste that is deleted when it is read, for the one caller who may read it (NOT_EXPIRED → DELETION_IN_PROGRESS).
 * @returns whether the caller may send the content; false: somebody else has read it, or it was deleted, taken down or has expired
 */
export async function revealPaste(db: Database, pasteId: string, actor: Actor): Promise<boolean> {
  const { rows } = await sql<{ revealed: boolean }>`
    SELECT reveal_paste(${pasteId}::uuid, ${actor}, ${wordsOf('revealed')}) AS revealed`.execute(db);
  return rows[0]?.revealed ?? false;
}
