import { REVEAL_MINUTES, pasteDeletion, transition, wordsOf } from '@pasteflow/domain';
import { sql } from 'kysely';
import type { Actor } from '../database/actor.ts';
import type { Database } from '../database/database.ts';
import { callerAs, literal, type OwnerFunction } from '../database/objects.ts';
import { isThereAt } from '../schema/pastes.ts';

/**
 * Claims a stored paste that is deleted when it is read, for the one reader who may read it (NOT_EXPIRED →
 * DELETION_IN_PROGRESS), or finds that this reader claimed it within the last five minutes.
 * @param readerKeyHash SHA-256 of the key by which the reader is known
 * @param readerId the user who reads; null: somebody who is not signed in. Default: null
 * @returns whether the reader may have the content; false: somebody else has read it, or it was deleted,
 * taken down or has expired
 */
export async function revealPaste(
  db: Database,
  pasteId: string,
  {
    readerKeyHash,
    readerId = null,
    actor,
  }: { readonly readerKeyHash: Buffer; readonly readerId?: string | null; readonly actor: Actor },
): Promise<boolean> {
  // A setting, because the release before calls the function with four parameters.
  const { rows } = await sql<{ revealed: boolean }>`
    WITH reader AS MATERIALIZED (SELECT set_config('${sql.raw(READER)}', ${readerId ?? ''}, true))
    SELECT reveal_paste(${pasteId}::uuid, ${readerKeyHash}::bytea, ${actor}, ${wordsOf('revealed')}) AS revealed FROM reader`.execute(
    db,
  );
  return rows[0]?.revealed ?? false;
}

/** The setting that names the reader. */
const READER = 'pasteflow.reader';

const claim = transition(pasteDeletion, 'NOT_EXPIRED', 'DELETION_IN_PROGRESS');

/**
 * Grants the one read of a paste that is deleted when it is read, by claiming the paste for deletion. The
 * reader who claimed it is granted the read again for five minutes, unless the paste was taken down or the
 * cleanup has taken it over, which changes the time of the claim. The api has no right to change the state of
 * a deletion, so this is a function of the owner (ADR 47).
 *
 * Of any number of calls at the same time one changes the row. The others wait for its lock, compare the row
 * again, and change nothing. The same holds for a deletion by the owner of the paste, a takedown, and a
 * cleanup.
 *
 * The reader's row is locked first, so that an erasure comes before the claim, or finds the reader in the paste.
 *
 * `deletion_requested_at` stays when the watchdog releases the claim: nobody reads the paste, and the next
 * cleanup claims it.
 */
export const revealPasteFunction: OwnerFunction = {
  name: 'reveal_paste',
  parameters: 'of_paste uuid, key_hash bytea, by_actor text, why text',
  returns: 'boolean',
  body: `
    DECLARE
      reader uuid := nullif(current_setting('${READER}', true), '');
    BEGIN
      IF NOT user_stands(reader) THEN reader := NULL; END IF;
      PERFORM set_config('pasteflow.actor', ${callerAs('by_actor')}, true), set_config('pasteflow.reason', why, true);
      UPDATE pastes SET deletion_status = ${literal(claim.to)}, deletion_initiated_at = now(), burned_at = now(), deletion_requested_at = now(),
          reader_key_hash = key_hash, read_by = reader
        WHERE id = of_paste AND burn AND burned_at IS NULL AND taken_down_for IS NULL
          AND status = 'PROCESSED' AND deletion_status = ${literal(claim.from)}
          AND ${isThereAt('pastes', 'now()')};
      RETURN FOUND OR EXISTS (
        SELECT FROM pastes WHERE id = of_paste AND reader_key_hash = key_hash AND taken_down_for IS NULL
          AND deletion_status = ${literal(claim.to)} AND deletion_initiated_at = burned_at
          AND burned_at > clock_timestamp() - interval '${REVEAL_MINUTES} minutes');
    END`,
};
