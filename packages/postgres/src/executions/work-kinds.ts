import { sql, type RawBuilder, type Selectable } from 'kysely';
import type { Actor } from '../database/actor.ts';
import type { Database } from '../database/database.ts';
import type { WorkKindsTable } from '../schema/executions.ts';

/** The kinds of all uploads and of all deliveries of webhooks. Every other kind is a type of jobs. */
export const UPLOADS = 'uploads';
export const WEBHOOKS = 'webhooks';

export type WorkKind = Selectable<WorkKindsTable>;

/** A SELECT of the kinds that are paused. It reads one page. */
export const pausedKinds: RawBuilder<unknown> = sql`SELECT kind FROM work_kinds WHERE paused_at IS NOT NULL`;

/** The kinds of this worker become kinds that operators can pause. */
export async function addWorkKinds(db: Database, kinds: readonly string[]): Promise<void> {
  await sql`INSERT INTO work_kinds (kind) SELECT unnest(${kinds}::text[]) ON CONFLICT DO NOTHING`.execute(db);
}

/** All kinds, in the order of their names. */
export async function listWorkKinds(db: Database): Promise<readonly WorkKind[]> {
  return await db.selectFrom('work_kinds').selectAll().orderBy('kind').execute();
}

/** The names of the paused kinds, for those who may not read why. */
export async function listPausedKinds(db: Database): Promise<readonly string[]> {
  const { rows } = await sql<{ kind: string }>`${pausedKinds} ORDER BY kind`.execute(db);
  return rows.map(({ kind }) => kind);
}

/** From now on no claim takes work of this kind. @returns false when it is paused already, or unknown */
export async function pauseKind(
  db: Database,
  kind: string,
  { actor, reason }: { readonly actor: Actor; readonly reason: string },
): Promise<boolean> {
  const { rows } = await sql`
    UPDATE work_kinds SET paused_at = now(), paused_by = ${actor}, pause_reason = ${reason}
    WHERE kind = ${kind} AND paused_at IS NULL RETURNING kind`.execute(db);
  return rows.length === 1;
}

/** @returns false when the kind is not paused, or unknown */
export async function resumeKind(db: Database, kind: string): Promise<boolean> {
  const { rows } = await sql`
    UPDATE work_kinds SET paused_at = NULL, paused_by = NULL, pause_reason = NULL, resumed_at = now()
    WHERE kind = ${kind} AND paused_at IS NOT NULL RETURNING kind`.execute(db);
  return rows.length === 1;
}

/** Whether a worker has something to claim: there is no pause, or a job of a type that is not paused is due. */
export async function hasClaimableJob(db: Database): Promise<boolean> {
  const { rows } = await sql<{ is: boolean }>`
    SELECT cardinality(kinds) = 0 OR next_job(true, kinds) IS NOT NULL OR next_job(false, kinds) IS NOT NULL AS is
    FROM (SELECT ARRAY(${pausedKinds}) AS kinds) AS paused`.execute(db);
  return rows[0]?.is ?? false;
}

/**
 * Whether an execution of `of_kind` and its subject wait for the end of a pause, or have waited for one that
 * ended less than `seconds` ago. Columns of the row: `kind` and `subject_id`.
 */
export function waitsForPause(row: string, seconds: number): RawBuilder<boolean> {
  return sql`EXISTS (SELECT FROM work_kinds w
      WHERE (w.paused_at IS NOT NULL OR w.resumed_at BETWEEN now() - make_interval(secs => ${seconds}) AND now())
        AND w.kind = CASE ${sql.ref(`${row}.kind`)} WHEN 'upload' THEN ${UPLOADS} WHEN 'webhook' THEN ${WEBHOOKS}
          ELSE (SELECT job_type FROM jobs WHERE id = ${sql.ref(`${row}.subject_id`)}) END)`;
}
