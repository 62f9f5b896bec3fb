import { MAX_OPEN_REPORTS } from '@pasteflow/domain';
import type { OwnerFunction } from './objects.ts';

/** Of all statements that count or judge the reports of a content: they take turns. */
export const REPORTS_LOCK = 'pasteflow.reports';

/**
 * What readers see of a paste beside its content, as `cleared_contents.shown_as` has it: the same content under
 * another title or slug can be phishing.
 */
export const shownAs = (paste: string): string =>
  `CASE WHEN num_nonnulls(${paste}.title, ${paste}.slug) = 0 THEN ''
        ELSE encode(sha256(convert_to(json_build_array(${paste}.title, ${paste}.slug)::text, 'UTF8')), 'hex') END`;

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
      PERFORM FROM pastes WHERE id = of_paste AND status <> 'FAILED' AND deletion_initiated_at IS NULL
        AND deletion_requested_at IS NULL AND (expires_at IS NULL OR expires_at > now()) FOR UPDATE;
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
