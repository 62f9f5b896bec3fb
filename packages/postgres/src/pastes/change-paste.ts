import { MAX_EXPIRY_SECONDS, MIN_EXPIRY_SECONDS, type StoredOptions } from '@pasteflow/domain';
import { sql, type Selectable } from 'kysely';
import type { Actor } from '../database/actor.ts';
import type { Database } from '../database/database.ts';
import { callerAs, type OwnerFunction } from '../database/objects.ts';
import { isThereAt, readersOf, type PasteChangesTable } from '../schema/pastes.ts';

/** The fields that get a new value; one that is missing stays. */
export type PasteChanges = {
  readonly [Name in 'title' | 'syntax' | 'visibility']?: StoredOptions[Name] | undefined;
} & {
  /** Seconds from now, by the clock of Postgres, or a time; null: never. */
  readonly expires?: { readonly inSeconds: number } | { readonly at: Date } | null;
};

/** Who changes a paste. It must be its owner or, for a paste without one, have its delete token. */
export interface ChangedBy {
  /** null: an anonymous caller. */
  readonly userId: string | null;
  /** SHA-256 of the delete token; null: none was sent. */
  readonly deleteTokenHash: Buffer | null;
  readonly actor: Actor;
}

/**
 * `forbidden`: the caller is not the owner and does not have the delete token. `gone`: the paste is no longer
 * there, or never was. `expiry`: it would expire too soon or too late. `ownerless`: nobody could read it.
 */
export type ChangeOutcome =
  | 'changed'
  | 'gone'
  | 'failed'
  | 'forbidden'
  | 'held'
  | 'encrypted'
  | 'ownerless'
  | 'expiry';

/** Changes what a paste has beside its content. Of two changes of one field the later one stays. */
export async function changePaste(
  db: Database,
  pasteId: string,
  { expires, ...fields }: PasteChanges,
  { userId, deleteTokenHash, actor }: ChangedBy,
): Promise<ChangeOutcome> {
  const changes = { ...fields, ...(expires !== undefined && expiryOf(expires)) };
  const { rows } = await sql<{ outcome: ChangeOutcome }>`
    SELECT change_paste(${pasteId}::uuid, ${userId}::uuid, ${deleteTokenHash}::bytea, ${JSON.stringify(changes)}::jsonb,
      ${actor}) AS outcome`.execute(db);
  return rows[0]?.outcome ?? 'gone';
}

function expiryOf(expires: NonNullable<PasteChanges['expires']> | null): object {
  if (expires === null) return { expires_at: null };
  // In milliseconds: Postgres reads no text of a year before 1 or after 9999 as JavaScript writes it.
  return 'at' in expires ? { expires_at: expires.at.getTime() } : { expires_in: expires.inSeconds };
}

/** Of each field so many changes stay recorded, the last ones, so that nobody fills the table by one paste. */
const MAX_RECORDED = 100;

/**
 * A query of what is recorded of a field that was changed.
 * @param textOf what is recorded of a value; default: NULL
 * @param valueOf the value in a row
 */
const recorded = (
  field: string,
  textOf: (value: string) => string = () => 'NULL::text',
  valueOf = (row: string) => `${row}.${field}`,
): string => {
  const [old, changed] = [valueOf('paste'), valueOf('changed')];
  return `SELECT '${field}', ${textOf(old)}, ${textOf(changed)} WHERE ${old} IS DISTINCT FROM ${changed}`;
};

/** In UTC, whatever the time zone of the session. */
const instant = (time: string): string =>
  `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/**
 * Changes the fields that `changes` names, and records each that got another value. No service may change
 * these columns, so this is a function of the owner.
 *
 * The lock on the paste lets changes take turns with each other, with a deletion, a takedown, a reveal and a
 * hold: each sees what the one before has left, and none brings a paste back. The user is locked first, as by
 * a creation, so that an erasure comes before or after the change.
 */
export const changePasteFunction: OwnerFunction = {
  name: 'change_paste',
  parameters: 'of_paste uuid, by_user uuid, by_token_hash bytea, changes jsonb, by_actor text',
  returns: 'text',
  body: `
    DECLARE
      paste pastes%ROWTYPE;
      changed pastes%ROWTYPE;
    BEGIN
      IF by_user IS NOT NULL AND NOT user_stands(by_user) THEN RETURN 'forbidden'; END IF;
      SELECT * INTO paste FROM pastes WHERE id = of_paste FOR NO KEY UPDATE;
      IF NOT FOUND THEN RETURN 'gone'; END IF;
      IF paste.status = 'FAILED' THEN RETURN 'failed'; END IF;
      IF NOT ${isThereAt('paste', 'clock_timestamp()')} THEN RETURN 'gone'; END IF;
      IF NOT coalesce(CASE WHEN paste.user_id IS NULL THEN paste.delete_token_hash = by_token_hash ELSE paste.user_id = by_user END, false)
        THEN RETURN 'forbidden'; END IF;
      IF paste.held_at IS NOT NULL THEN RETURN 'held'; END IF;
      changed := paste;
      IF changes ? 'title' THEN changed.title := changes ->> 'title'; END IF;
      IF changes ? 'syntax' THEN changed.syntax := changes ->> 'syntax'; END IF;
      IF changes ? 'visibility' THEN
        changed.for_members := changes ->> 'visibility' = 'members';
        changed.visibility := CASE WHEN changed.for_members THEN 'private' ELSE changes ->> 'visibility' END;
      END IF;
      IF changes ? 'expires_in' THEN changed.expires_at := clock_timestamp() + make_interval(secs => (changes ->> 'expires_in')::integer); END IF;
      IF changes ? 'expires_at' THEN changed.expires_at := to_timestamp((changes ->> 'expires_at')::float8 / 1000); END IF;
      IF changed.encrypted AND num_nonnulls(changed.title, changed.syntax) > 0 THEN RETURN 'encrypted'; END IF;
      IF changed.user_id IS NULL AND changed.visibility = 'private' THEN RETURN 'ownerless'; END IF;
      IF changes ? 'expires_at' AND changed.expires_at NOT BETWEEN clock_timestamp() + interval '${MIN_EXPIRY_SECONDS} s'
        AND clock_timestamp() + interval '${MAX_EXPIRY_SECONDS} s' THEN RETURN 'expiry'; END IF;
      INSERT INTO paste_changes (paste_id, field, "from", "to", changed_by, actor)
        SELECT of_paste, field, old, new, CASE WHEN paste.user_id IS NULL THEN 'delete_token' ELSE 'owner' END, ${callerAs('by_actor')}
        FROM (${[recorded('title'), recorded('syntax'), recorded('visibility', (value) => value, readersOf), recorded('expires_at', instant)].join(' UNION ALL ')})
          AS different (field, old, new);
      DELETE FROM paste_changes WHERE id IN (SELECT id FROM (
        SELECT id, row_number() OVER (PARTITION BY field ORDER BY id DESC) AS age FROM paste_changes WHERE paste_id = of_paste) AS aged
        WHERE age > ${MAX_RECORDED});
      UPDATE pastes SET title = changed.title, syntax = changed.syntax, visibility = changed.visibility, for_members = changed.for_members,
          expires_at = changed.expires_at
        WHERE id = of_paste AND (title, syntax, visibility, for_members, expires_at)
          IS DISTINCT FROM (changed.title, changed.syntax, changed.visibility, changed.for_members, changed.expires_at);
      RETURN 'changed';
    END`,
};

/** A field of a paste that got another value. Values are recorded only of the readers and the expiry. */
export type PasteChange = Pick<
  Selectable<PasteChangesTable>,
  'field' | 'from' | 'to' | 'changed_at' | 'changed_by' | 'actor'
>;

/** Oldest first. Only for operators: the api may not read it. */
export async function readPasteChanges(db: Database, pasteId: string): Promise<readonly PasteChange[]> {
  return await db
    .selectFrom('paste_changes')
    .select(['field', 'from', 'to', 'changed_at', 'changed_by', 'actor'])
    .where('paste_id', '=', pasteId)
    .orderBy('id')
    .execute();
}
