import { wordsOf } from '@pasteflow/domain';
import { sql } from 'kysely';
import type { Actor } from '../database/actor.ts';
import type { Database } from '../database/database.ts';

/**
 * Claims a stored paste that is deleted when it is read, for the one reader who may read it (NOT_EXPIRED →
 * DELETION_IN_PROGRESS), or finds that this reader claimed it within the last five minutes.
 * @param readerKeyHash SHA-256 of the key by which the reader is known
 * @returns whether the reader may have the content; false: somebody else has read it, or it was deleted,
 * taken down or has expired
 */
export async function revealPaste(
  db: Database,
  pasteId: string,
  { readerKeyHash, actor }: { readonly readerKeyHash: Buffer; readonly actor: Actor },
): Promise<boolean> {
  const { rows } = await sql<{ revealed: boolean }>`
    SELECT reveal_paste(${pasteId}::uuid, ${readerKeyHash}::bytea, ${actor}, ${wordsOf('revealed')}) AS revealed`.execute(
    db,
  );
  return rows[0]?.revealed ?? false;
}
