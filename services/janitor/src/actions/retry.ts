import { isShortCode } from '@pasteflow/domain';
import { countRetryable, findPaste, findRetryable, retryFailed, type Database } from '@pasteflow/postgres';
import { counted, Refused, type Action } from './action.ts';

/** The subject is the short code of a FAILED paste (ADR 22). */
export function retry(db: Database): Action {
  return {
    title: 'Retry the upload',
    check: async (code) => {
      const paste = isShortCode(code) ? await findPaste(db, code) : null;
      if (paste === null) return null;
      const count = paste.status === 'FAILED' && !paste.gone ? 1 : 0;
      return { count, sentence: `This uploads ${counted(count, 'FAILED paste')} again.` };
    },
    do: async (code, by) => {
      const { length: retried } = await retryFailed(db, [code], by);
      if (retried === 0)
        throw new Refused(
          `paste ${code} is not FAILED, has expired, or its payload is gone; \`npm run ops -- timeline ${code}\` shows which`,
        );
      return { outcome: `Retried ${code}.`, json: { retried, skipped: 0 } };
    },
  };
}

/** The rows and payloads of FAILED pastes stay for 24 hours. */
const DAY_MS = 86_400_000;

/** Pastes a statement: at most 1 GiB of content moves in one transaction. */
const BATCH = 100;

/** Pastes between two lines of progress. */
const PROGRESS_STEP = 1000;

/**
 * The subject is `since 2026-11-22T04:00:00.000Z`, or empty for the last 24 hours. The pastes are retried in
 * batches, in the order of the ids: pastes that fail again meanwhile come later and are not retried twice.
 * After an action that was cut off, another one retries the rest.
 */
export function retryFailedSince(db: Database): Action {
  return {
    title: 'Retry the pastes that failed today',
    check: async (subject) => {
      const since = sinceOf(subject);
      if (since === null) return null;
      const count = await countRetryable(db, since);
      const of = subject === '' ? 'of the last 24 hours' : `that failed ${subject}`;
      return { count, sentence: `This uploads ${counted(count, 'FAILED paste')} ${of} again.` };
    },
    do: async (subject, by, { signal, onProgress }) => {
      const since = sinceOf(subject);
      if (since === null) throw new Refused(`${subject} is no time`);
      const retryable = await countRetryable(db, since);
      const counts = { retried: 0, skipped: 0 };
      let reported = 0;
      for (let after: string | null = null; ;) {
        signal.throwIfAborted();
        const found: Awaited<ReturnType<typeof findRetryable>> = await findRetryable(db, {
          since,
          after,
          limit: BATCH,
        });
        const codes = found.map(({ shortCode }) => shortCode);
        const { length: retried } = await retryFailed(db, codes, by);
        counts.retried += retried;
        counts.skipped += codes.length - retried; // another process changed or locked them meanwhile
        after = found.at(-1)?.failedId ?? null;
        if (found.length < BATCH) break;
        const done = counts.retried + counts.skipped;
        if (done - reported < PROGRESS_STEP) continue;
        reported = done;
        onProgress(`${done} of ${retryable} pastes: retried ${counts.retried}, skipped ${counts.skipped}`);
      }
      return { outcome: `Retried ${counts.retried}, skipped ${counts.skipped}.`, json: counts };
    },
  };
}

function sinceOf(subject: string): Date | null {
  if (subject === '') return new Date(Date.now() - DAY_MS);
  const since = new Date(subject.replace(/^since /, ''));
  return Number.isNaN(since.getTime()) ? null : since;
}
