import type { TakedownClass } from '@pasteflow/domain';
import { sql } from 'kysely';
import type { Database } from '../database/database.ts';

export interface NewReport {
  readonly class: TakedownClass;
  /** null: none. */
  readonly text: string | null;
  /** null: none. */
  readonly contact: string | null;
  /** The network that the report came from. Only a keyed hash of it is stored, while the report is open. */
  readonly reporter: string;
}

/**
 * Records a report. @param holdAfter so many reporters hold the paste; null: none do
 * @returns `cleared` when an operator has rejected reports of this content; `gone` when the paste is gone
 */
export async function reportPaste(
  db: Database,
  pasteId: string,
  { class: why, text, contact, reporter }: NewReport,
  holdAfter: number | null,
): Promise<'recorded' | 'cleared' | 'gone'> {
  const { rows } = await sql<{ outcome: 'recorded' | 'cleared' | 'gone' }>`
    SELECT report_paste(${pasteId}::uuid, ${why}, ${text}, ${contact}, ${reporter}, ${holdAfter}::integer) AS outcome`.execute(
    db,
  );
  return rows[0]?.outcome ?? 'gone';
}

/** A paste with open reports. */
export interface ReportedPaste {
  readonly shortCode: string;
  readonly reporters: number;
  readonly oldestAt: Date;
  /** Each class once. */
  readonly classes: readonly TakedownClass[];
  /** null: everybody who could can read it. */
  readonly heldAt: Date | null;
}

/**
 * Up to `limit` pastes with open reports: those that have waited longest first, or those with the most
 * reporters.
 */
export async function listReported(
  db: Database,
  { by, limit }: { readonly by: 'age' | 'reporters'; readonly limit: number },
): Promise<readonly ReportedPaste[]> {
  const { rows } = await sql<ReportedPaste>`
    SELECT p.short_code AS "shortCode", count(*)::integer AS reporters, min(r.created_at) AS "oldestAt",
      array_agg(DISTINCT r.class) AS classes, p.held_at AS "heldAt"
    FROM paste_reports r JOIN pastes p ON p.id = r.paste_id
    WHERE r.judged_at IS NULL GROUP BY p.id
    ORDER BY ${by === 'age' ? sql`1 = 1` : sql`count(*) DESC`}, min(r.created_at), p.id LIMIT ${limit}`.execute(
    db,
  );
  return rows;
}

export interface OpenReport {
  readonly class: TakedownClass;
  readonly text: string | null;
  readonly contact: string | null;
  readonly at: Date;
}

/** The open reports of a paste, oldest first: at most MAX_OPEN_REPORTS. */
export async function findReports(db: Database, pasteId: string): Promise<readonly OpenReport[]> {
  return await db
    .selectFrom('paste_reports')
    .select(['class', 'text', 'contact', 'created_at as at'])
    .where('paste_id', '=', pasteId)
    .where('judged_at', 'is', null)
    .orderBy('id')
    .execute();
}
