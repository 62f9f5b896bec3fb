import { insertedPasteColumns } from '../schema/pastes.ts';
import { callerAs, isThere, type OwnerFunction } from './objects.ts';
import { REPORTS_LOCK } from './report-paste.ts';

const inserted = [...insertedPasteColumns, 'held_at'].join(', ');

/**
 * Replaces FAILED pastes by new ones (ADR 22): see `retryFailed`. The new paste takes over what hangs on the
 * id of the old one: the reports, the hold and the record of earlier retries. The rest hangs on the short code
 * or is a column. No service may hold a paste or give a report to another one, so this is a function of the
 * owner.
 *
 * The locks on the paste and its payload fence the retry: of two retries, a deletion and the sweep of failed
 * pastes, one changes the row. Both are needed: a deletion and a takedown change the paste, the sweep of failed
 * pastes deletes the payload. The first lock lets the retry and the judgements of a content take turns, so
 * that a judgement finds all of its reports. A FAILED paste gets no further report.
 *
 * Content that an operator blocks meanwhile is not stored: for the block, a retry is a creation.
 */
export const retryFailedFunction: OwnerFunction = {
  name: 'retry_failed',
  parameters: 'of_codes text[], by_actor text, why text',
  returns: 'TABLE (code text, new_id uuid, old_id uuid)',
  body: `
    BEGIN
      PERFORM pg_advisory_xact_lock(hashtext('${REPORTS_LOCK}'), reported.hash) FROM (
        SELECT DISTINCT hashtext(p.content_hash) AS hash FROM pastes p
        WHERE p.short_code = ANY (of_codes) AND p.status = 'FAILED'
          AND EXISTS (SELECT FROM paste_reports r WHERE r.paste_id = p.id AND r.judged_at IS NULL)
        ORDER BY 1) AS reported;
      RETURN QUERY
      WITH failed AS MATERIALIZED (
        SELECT p.id, payload.content FROM pastes p JOIN failed_payloads payload ON payload.paste_id = p.id
        WHERE p.short_code = ANY (of_codes) AND p.status = 'FAILED'
          AND ${isThere('p')} AND (p.user_id IS NULL OR user_stands(p.user_id))
          AND NOT EXISTS (SELECT FROM content_blocks b WHERE b.content_hash = p.content_hash AND b.unblocked_at IS NULL)
          AND NOT EXISTS (SELECT FROM task_executions e
            WHERE e.kind = 'upload' AND e.subject_id = p.id AND e.status IN ('PENDING', 'RUNNING'))
        ORDER BY p.id FOR UPDATE OF p, payload SKIP LOCKED
      ), removed AS (
        DELETE FROM pastes p USING failed WHERE p.id = failed.id RETURNING p.*, failed.content
      ), paste AS (
        INSERT INTO pastes (${inserted}) SELECT ${inserted} FROM removed ORDER BY slug, short_code
        RETURNING id, short_code, user_id, created_at
      ), payload AS (
        INSERT INTO paste_payloads (paste_id, content, user_id, created_at)
        SELECT paste.id, removed.content, paste.user_id, paste.created_at FROM paste JOIN removed USING (short_code)
      ), execution AS (
        INSERT INTO task_executions (kind, subject_id, attempt) SELECT 'upload', id, 1 FROM paste
      ), reports AS (
        UPDATE paste_reports r SET paste_id = paste.id
        FROM removed JOIN paste USING (short_code) WHERE r.paste_id = removed.id
      ), earlier AS (
        UPDATE paste_retries r SET paste_id = paste.id
        FROM removed JOIN paste USING (short_code) WHERE r.paste_id = removed.id
      ), recorded AS (
        INSERT INTO paste_retries (retried_from, execution_ids, paste_id, created_at, failed_at, failure_reason, actor, reason)
        SELECT removed.id, ARRAY(SELECT e.id FROM task_executions e WHERE e.kind = 'upload' AND e.subject_id = removed.id),
          paste.id, removed.created_at, removed.failed_at, removed.failure_reason, ${callerAs('by_actor')}, why
        FROM removed JOIN paste USING (short_code)
      )
      SELECT paste.short_code, paste.id, removed.id FROM paste JOIN removed USING (short_code) ORDER BY removed.id;
    END`,
};
