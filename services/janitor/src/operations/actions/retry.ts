import { isShortCode } from '@pasteflow/domain';
import { commandName } from '@pasteflow/service-kit';
import {
  countRetryable,
  findPaste,
  findRetryable,
  retryFailed as retryPastes,
  type Retryable,
} from '@pasteflow/postgres';
import { counted } from '../reports/counted.ts';
import { Refused, type Action } from './action.ts';
import { failedSince, paste } from './subjects.ts';

/** The subject is the short code of a FAILED paste (ADR 22). */
export const retry: Action = {
  name: 'retry',
  title: 'Retry the upload',
  command: {
    name: 'retry',
    subjects: [paste],
    help: 'uploads a FAILED paste again; its owner reads the reason in the timeline',
    reason: 'optional',
  },
  check: async ({ db }, code) => {
    const found = isShortCode(code) ? await findPaste(db, code) : null;
    if (found === null) return null;
    const count = found.status === 'FAILED' && !found.gone ? 1 : 0;
    return { count, sentence: `This uploads ${counted(count, 'FAILED paste')} again.` };
  },
  do: async ({ db }, code, by) => {
    const { length: retried } = await retryPastes(db, [code], by);
    if (retried === 0)
      throw new Refused(
        `paste ${code} is not FAILED, has expired, has blocked content, or its payload is gone; \`${commandName('ops')} timeline ${code}\` shows which`,
      );
    return { outcome: `Retried ${code}.`, json: { retried, skipped: 0 } };
  },
};

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
export const retryFailed: Action = {
  name: 'retry-failed',
  title: 'Retry the uploads that failed',
  command: {
    name: 'retry',
    subjects: [failedSince],
    help: 'with --all-failed-since TIME instead of CODE shows how many pastes failed since then, and with --yes retries them',
    reason: 'optional',
    unconfirmed: {
      show: ({ count }, since) => ({
        json: { retryable: count },
        text: `${counted(count, 'FAILED paste')} that failed ${since} can be retried.`,
      }),
      missing: (subject) => `${subject} names no FAILED pastes`,
      toDoIt: 'retry them',
    },
  },
  check: async ({ db }, subject) => {
    const which = whichOf(subject);
    if (which === null) return null;
    const count = await countRetryable(db, which);
    const of = subject === '' ? '' : ` that failed ${subject}`;
    return { count, sentence: `This uploads ${counted(count, 'FAILED paste')}${of} again.` };
  },
  do: async ({ db }, subject, by, { signal, onProgress }) => {
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
      const { length: retried } = await retryPastes(db, codes, by);
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

function whichOf(subject: string): Retryable | null {
  if (subject === '') return {};
  if (subject.includes('\0')) return null; // which no text in Postgres has
  if (subject.startsWith('because ')) return { reason: subject.slice('because '.length) };
  const since = new Date(subject.replace(/^since /, ''));
  return Number.isNaN(since.getTime()) ? null : { since };
}
