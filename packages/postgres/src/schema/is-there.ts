import { sql, type RawBuilder } from 'kysely';

/**
 * Whether a paste is there: nobody has asked for its deletion, no cleanup and no reveal has claimed it, and it has not expired. Every read,
 * list, retry and deletion asks this, and nothing else. `reveal_paste`, a function of the owner, has a copy of the condition. Only the expiry is compared with the clock: a deletion is a fact, and stays one when
 * the clock of Postgres steps back. CHECKs give each paste that was taken down or revealed a `deletion_requested_at`, and each paste that is
 * not NOT_EXPIRED a `deletion_initiated_at`.
 * @param paste the table's name or alias in the statement
 */
export function isThere(paste: string): RawBuilder<boolean> {
  const column = (name: string) => sql.ref(`${paste}.${name}`);
  return sql<boolean>`(${column('deletion_initiated_at')} IS NULL AND ${column('deletion_requested_at')} IS NULL
    AND (${column('expires_at')} IS NULL OR ${column('expires_at')} > now()))`;
}
