import { isShortCode } from '@pasteflow/domain';
import { commandName } from '@pasteflow/service-kit';
import {
  countRetryable,
  findPaste,
  findRetryable,
  retryFailed,
  type Database,
  type Retryable,
} from '@pasteflow/postgres';
import { counted } from '../reports/counted.ts';
import { Refused, type Action } from './action.ts';

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
          `paste ${code} is not FAILED, has expired, has blocked content, or its payload is gone; \`${commandName('ops')} timeline ${code}\` shows which`,
        );
      return { outcome: `Retried ${code}.`, json: { retried, skipped: 0 } };
    },
  };
}

/** Pastes a statement: at most 1 GiB of content moves in one transaction. */
const BATCH = 100;

/** Pastes between two lines of progress. */
const PROGRESS_STEP = 1000;

/**
 * The subject is `since 2026-11-22T04:00:00.000Z`, `because` and the reason of the failures, or empty for all
 * that can be retried. The pastes are retried in batches, in the order of the ids: pastes that fail again
 * meanwhile come later and are not retried twice. After an action that was cut off, another one retries the
 * rest.
 */
export function retryFailedPastes(db: Database): Action {
  return {
    title: 'Retry the uploads that failed',
    check: async (subject) => {
      const which = whichOf(subject);
      if (which === null) return null;
      const count = await countRetryable(db, which);
      const of = subject === '' ? '' : ` that failed ${subject}`;
      return { count, sentence: `This uploads ${counted(count, 'FAILED paste')}${of} again.` };
    },
    do: async (subject, by, { signal, onProgress }) => {
      const which = whichOf(subject);
      if (which === null) throw new Refused(`${subject} names no FAILED pastes`);
      const count = await countRetryable(db, which);
      const counts = { retried: 0, skipped: 0 };
      let reported = 0;
      for (let after: string | null = null; ;) {
        signal.throwIfAborted();
        const found: Awaited<ReturnType<typeof findRetryable>> = await findRetryable(db, {
          ...which,
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
        onProgress(`${done} of ${count} pastes: retried ${counts.retried}, skipped ${counts.skipped}`);
      }
      return { outcome: `Retried ${counts.retried}, skipped ${counts.skipped}.`, json: counts };
    },
  };
}

function whichOf(subject: string): Retryable | null {
  if (subject === '') return {};
  if (subject.includes('\0')) return null; // which no text in Postgres has
  if (subject.startsWith('because ')) return { reason: subject.slice('because '.length) };
  const since = new Date(subject.replace(/^since /, ''));
  return Number.isNaN(since.getTime()) ? null : { since };
}
