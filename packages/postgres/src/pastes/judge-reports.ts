import { pasteReport, transition } from '@pasteflow/domain';
import { sql, type RawBuilder } from 'kysely';
import { byActor, type Actor } from '../database/actor.ts';
import { affectedRows, type Database } from '../database/database.ts';
import { REPORTS_LOCK, shownAs } from './reports.ts';
import { revokeTokensOf } from '../identity/api-tokens.ts';
import { endInvitationsOf } from '../identity/invitations.ts';
import { takeDown, type TakedownBy } from './take-down.ts';

const uphold = transition(pasteReport, 'open', 'upheld');
const reject = transition(pasteReport, 'open', 'rejected');

/** What a judgement did; null: the paste has no open report, because somebody else was first or it is gone. */
type Judged<More> = ({ readonly reports: number } & More) | null;

/**
 * Upholds the open reports of a paste, and takes the paste down in the same transaction.
 * @param endTokens also revokes the tokens and sessions of its user, and ends the open invitation
 */
export async function upholdReports(
  db: Database,
  shortCode: string,
  { endTokens, ...by }: TakedownBy & { readonly endTokens: boolean },
): Promise<
  Judged<{ readonly contentHash: string; readonly userId: string | null; readonly tokens: number }>
> {
  return await db.transaction().execute(async (tx) => {
    const paste = await lockContent(tx, shortCode);
    if (paste === null) return null;
    await sql`SELECT FROM pastes WHERE id = ${paste.id} FOR UPDATE`.execute(tx); // in the order of a deletion
    const reports = await endReports(tx, { to: uphold.to, where: sql`paste_id = ${paste.id}`, by });
    if (reports === 0) return null;
    await takeDown(tx, [shortCode], by);
    const { contentHash, userId } = paste;
    const tokens = endTokens && userId !== null ? await endSignIns(tx, userId) : 0;
    return { reports, contentHash, userId, tokens };
  });
}

/** The invitation first, so that the session is there that it has begun meanwhile. @returns how many tokens it revoked */
async function endSignIns(tx: Database, userId: string): Promise<number> {
  await endInvitationsOf(tx, userId);
  return await revokeTokensOf(tx, userId);
}

const shown = (paste: string): RawBuilder<string> => sql.raw(shownAs(paste));

/**
 * Rejects the open reports of a paste and of all pastes with the same content, title and slug, releases these
 * pastes, and clears the content: no further report of it is taken under this title and slug. A paste that was
 * taken down clears nothing, and neither does one whose title was changed after its first report: the operator may
 * have seen another one. The reports of such a paste are rejected by its own short code alone.
 */
export async function rejectReports(
  db: Database,
  shortCode: string,
  by: { readonly actor: Actor; readonly reason: string },
): Promise<Judged<{ readonly pastes: number }>> {
  return await db.transaction().execute(async (tx) => {
    const paste = await lockContent(tx, shortCode);
    if (paste === null) return null;
    const { rows } = await sql<{ id: string }>`
      SELECT id FROM pastes
      WHERE id IN (SELECT paste_id FROM paste_reports WHERE content_hash = ${paste.contentHash} AND judged_at IS NULL)
        AND taken_down_for IS NULL AND ${shown('pastes')} = (SELECT ${shown('p')} FROM pastes p WHERE p.id = ${paste.id})
      ORDER BY id DESC FOR UPDATE`.execute(tx);
    const retitled = await findRetitled(
      tx,
      rows.map(({ id }) => id),
    );
    const ids = rows.flatMap(({ id }) => (id === paste.id || !retitled.has(id) ? [id] : []));
    if (!ids.includes(paste.id)) return null;
    const reports = await endReports(tx, { to: reject.to, where: sql`paste_id = ANY (${ids}::uuid[])`, by });
    if (reports === 0) return null; // a deletion, for which the lock has waited, has removed them
    await sql`UPDATE pastes SET held_at = NULL WHERE id = ANY (${ids}::uuid[]) AND held_at IS NOT NULL`.execute(
      tx,
    );
    if (!retitled.has(paste.id))
      await sql`
        INSERT INTO cleared_contents (content_hash, shown_as, actor, reason)
        SELECT p.content_hash, ${shown('p')}, ${by.actor}, ${by.reason} FROM pastes p WHERE p.id = ${paste.id}
        ON CONFLICT DO NOTHING`.execute(tx);
    return { reports, pastes: ids.length };
  });
}

/** Those of the pastes, which are locked, whose title was changed after their first open report. */
async function findRetitled(tx: Database, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    SELECT DISTINCT c.paste_id AS id FROM paste_changes c
    WHERE c.paste_id = ANY (${ids}::uuid[]) AND c.field = 'title' AND c.changed_at >=
      (SELECT min(r.created_at) FROM paste_reports r WHERE r.paste_id = c.paste_id AND r.judged_at IS NULL)`.execute(
    tx,
  );
  return new Set(rows.map(({ id }) => id));
}

/**
 * Lets the judgements, reports and retries of one content take turns: what follows sees all of those before.
 * The row is read again after the lock, because a retry replaces it.
 */
async function lockContent(
  tx: Database,
  shortCode: string,
): Promise<{ readonly id: string; readonly contentHash: string; readonly userId: string | null } | null> {
  const read = () =>
    tx
      .selectFrom('pastes')
      .select(['id', 'content_hash as contentHash', 'user_id as userId'])
      .where('short_code', '=', shortCode)
      .executeTakeFirst();
  const paste = await read();
  if (paste === undefined) return null;
  await sql`SELECT pg_advisory_xact_lock(hashtext(${REPORTS_LOCK}), hashtext(${paste.contentHash}))`.execute(
    tx,
  );
  return (await read()) ?? null;
}

/** @returns how many reports it ended */
async function endReports(
  tx: Database,
  {
    to,
    where,
    by,
  }: {
    readonly to: 'upheld' | 'rejected';
    readonly where: RawBuilder<unknown>;
    readonly by: { readonly actor: Actor; readonly reason: string };
  },
): Promise<number> {
  const result = await sql`
    WITH ${byActor(by.actor, by.reason)}
    UPDATE paste_reports SET status = ${to}, judged_at = now(), reporter = NULL FROM actor
    WHERE ${where} AND judged_at IS NULL`.execute(tx);
  return affectedRows(result);
}
