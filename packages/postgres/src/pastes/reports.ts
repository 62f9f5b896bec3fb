import { MAX_OPEN_REPORTS, type PasteFile, type TakedownClass } from '@pasteflow/domain';
import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import type { OwnerFunction } from '../database/objects.ts';
import { isThereAt } from '../schema/pastes.ts';

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
  readonly id: string;
  readonly title: string | null;
  readonly files: readonly PasteFile[] | null;
  /** null: an anonymous paste. */
  readonly userId: string | null;
  readonly reporters: number;
  readonly oldestAt: Date;
  /** Each class once. */
  readonly classes: readonly TakedownClass[];
  /** What the reporter who wrote something first wrote; null: nobody did. */
  readonly text: string | null;
  /** The network of the first reporter: the beginning of the keyed hash of its address. */
  readonly network: string;
  /** null: everybody who could can read it. */
  readonly heldAt: Date | null;
}

/** Which pastes with open reports are meant. Default: all. */
export interface ReportedFilter {
  /** A reporter chose this class. */
  readonly class?: TakedownClass | null;
  /** This network has reported the paste. */
  readonly network?: string | null;
  /** No other network has. */
  readonly isOnlyReporter?: boolean;
}

export interface ReportedPage {
  readonly pastes: readonly ReportedPaste[];
  /** How many there are on all pages. */
  readonly total: number;
  /** `after` of the next page; null: this is the last one. */
  readonly next: string | null;
}

/** `after` of `listReported`: the place in the order, the time of the oldest report, and the id of the paste. */
export const REPORTED_PLACE = /^(-?\d{1,9})\.(\d{1,18})\.([0-9a-f-]{36})$/;

/**
 * A page of the pastes with open reports: those that have waited longest first, or those with the most
 * reporters. Reads all open reports, which limits keep few.
 */
export async function listReported(
  db: Database,
  {
    by,
    after = null,
    limit,
    class: wanted = null,
    network = null,
    isOnlyReporter = false,
  }: ReportedFilter & {
    readonly by: 'age' | 'reporters';
    readonly after?: string | null;
    readonly limit: number;
  },
): Promise<ReportedPage> {
  const [, rank = null, micros = null, id = null] = REPORTED_PLACE.exec(after ?? '') ?? [];
  const ofNetwork = isOnlyReporter ? sql`bool_and` : sql`bool_or`;
  const { rows } = await sql<ReportedPaste & { place: string; total: number }>`
    WITH reported AS MATERIALIZED (
      SELECT paste_id, count(*)::integer AS reporters, min(created_at) AS since, array_agg(DISTINCT class) AS classes,
        (array_agg(text ORDER BY id) FILTER (WHERE text IS NOT NULL))[1] AS text, (array_agg(network ORDER BY id))[1] AS network
      FROM (SELECT *, ${networkOf} AS network FROM paste_reports WHERE judged_at IS NULL) AS report
      GROUP BY paste_id
      HAVING (${wanted}::text IS NULL OR bool_or(class = ${wanted}))
        AND (${network}::text IS NULL OR ${ofNetwork}(network = ${network}))
    ), placed AS (
      SELECT *, ${by === 'age' ? sql`0` : sql`-reporters`} AS rank, (extract(epoch FROM since) * 1000000)::bigint AS micros
      FROM reported
    )
    SELECT p.short_code AS "shortCode", p.id, p.title, p.files, p.user_id AS "userId", reporters, since AS "oldestAt", classes, text, network,
      p.held_at AS "heldAt", concat_ws('.', rank, micros, p.id) AS place, (SELECT count(*)::integer FROM reported) AS total
    FROM placed JOIN pastes p ON p.id = paste_id
    WHERE ${id}::uuid IS NULL OR (rank, micros, p.id) > (${rank}::integer, ${micros}::bigint, ${id}::uuid)
    ORDER BY rank, micros, p.id LIMIT ${limit + 1}`.execute(db);
  const pastes = rows.slice(0, limit).map(({ place: _place, total: _total, ...paste }) => paste);
  return {
    pastes,
    total: rows[0]?.total ?? 0,
    next: rows.length > limit ? (rows[limit - 1]?.place ?? null) : null,
  };
}

/** What operators are shown of a reporter. */
const networkOf = sql`encode(substring(reporter FROM 1 FOR 4), 'hex')`;

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

/** Of all statements that count or judge the reports of a content: they take turns. */
export const REPORTS_LOCK = 'pasteflow.reports';

/**
 * What readers see of a paste beside its content, as `cleared_contents.shown_as` has it: the same content under
 * another title or slug, or in files of other names, can be phishing.
 */
export const shownAs = (paste: string): string =>
  `CASE WHEN num_nonnulls(${paste}.title, ${paste}.slug, ${paste}.files) = 0 THEN ''
        ELSE encode(sha256(convert_to(CASE WHEN ${paste}.files IS NULL THEN json_build_array(${paste}.title, ${paste}.slug)
          ELSE json_build_array(${paste}.title, ${paste}.slug, ${paste}.files) END::text, 'UTF8')), 'hex') END`;

/**
 * Records a report of a paste, and holds the paste once `hold_after` reporters have reported it; NULL: never.
 * Returns `recorded`, `cleared` when an operator has rejected reports of this content
 * under this title and slug, or `gone`. A second
 * report of the same reporter, and one beyond MAX_OPEN_REPORTS, is `recorded`, too, and changes nothing. The
 * api has no right to read reports, to read the key of the reporters' hashes, or to hold a paste: this is a
 * function of the owner.
 *
 * The first lock lets the reports and judgements of one content take turns, so that each sees those before.
 * The second one makes a deletion wait, or has waited for it: a deleted paste gets no report.
 */
export const reportPasteFunction: OwnerFunction = {
  name: 'report_paste',
  parameters:
    'of_paste uuid, of_class text, of_text text, of_contact text, of_reporter text, hold_after integer',
  returns: 'text',
  body: `
    DECLARE
      hash text;
    BEGIN
      IF hold_after < 1 THEN RAISE EXCEPTION 'hold_after is %, and must be 1 or more', hold_after; END IF;
      SELECT content_hash INTO hash FROM pastes WHERE id = of_paste;
      PERFORM pg_advisory_xact_lock(hashtext('${REPORTS_LOCK}'), hashtext(hash));
      PERFORM FROM pastes WHERE id = of_paste AND status <> 'FAILED' AND ${isThereAt('pastes', 'now()')} FOR UPDATE;
      IF NOT FOUND THEN RETURN 'gone'; END IF;
      IF EXISTS (SELECT FROM cleared_contents c JOIN pastes p ON p.id = of_paste
        WHERE c.content_hash = hash AND c.shown_as = ${shownAs('p')}) THEN RETURN 'cleared'; END IF;
      INSERT INTO paste_reports (paste_id, content_hash, class, text, contact, reporter)
        SELECT of_paste, hash, of_class, of_text, of_contact, sha256(reporter_key || convert_to(of_reporter, 'UTF8'))
        FROM installation
        WHERE (SELECT count(*) FROM paste_reports WHERE paste_id = of_paste AND judged_at IS NULL) < ${MAX_OPEN_REPORTS}
        ON CONFLICT (paste_id, reporter) DO NOTHING;
      UPDATE pastes SET held_at = now() WHERE id = of_paste AND held_at IS NULL
        AND (SELECT count(*) FROM paste_reports WHERE paste_id = of_paste AND judged_at IS NULL) >= hold_after;
      RETURN 'recorded';
    END`,
};
