import { isShortCode, takedownClasses, type TakedownClass } from '@pasteflow/domain';
import {
  blockContent,
  findPaste,
  listReported,
  rejectReports,
  upholdReports,
  type Database,
} from '@pasteflow/postgres';
import { readReported } from '../reports/read-reported.ts';
import { counted } from '../reports/counted.ts';
import { NO_REASON, Refused, type ActedBy, type Action, type Meant, type Running } from './action.ts';
import { messageOf } from './record.ts';
import { paste } from './subjects.ts';

/** The subject is the short codes of pastes with open reports, with a space between two. */
export const uphold: Action = {
  name: 'uphold',
  title: 'Uphold the reports, and take down',
  command: {
    name: 'uphold',
    subjects: [paste],
    help: 'ends the reports of a paste, and takes it down; with --block blocks its content, and with --end-tokens revokes all tokens of its user, and ends an open invitation',
    reason: 'needed',
  },
  hasClass: true,
  options: ['block', 'end-tokens'],
  check: ({ db }, subject) =>
    check(db, subject, (pastes) =>
      pastes === 1
        ? 'and takes down 1 paste. Its readers get 451, and its content is deleted for ever.'
        : `and takes down ${pastes} pastes. Their readers get 451, and their content is deleted for ever.`,
    ),
  do: async ({ db }, subject, by, running) => {
    const codes = await codesOf(db, subject);
    if (codes.length === 1) return await upholdOne(db, codes[0] ?? '', by);
    return await judgeEach(codes, running, (code) => upholdOne(db, code, by), 'upheld', 'took down');
  },
};

async function upholdOne(db: Database, code: string, { actor, class: why, reason, also = [] }: ActedBy) {
  const by = { actor, class: why, reason: reason ?? NO_REASON };
  const isBlocked = also.includes('block');
  const done = await upholdReports(db, code, { ...by, endTokens: also.includes('end-tokens') });
  if (done === null)
    throw new Refused(isBlocked ? `${none(code)}. To block its content, block ${code}` : none(code));
  const { reports, contentHash, userId, tokens } = done;
  const owner = userId === null ? 'It has no owner.' : `Its owner is the user ${userId}.`;
  const ended = tokens > 0 ? ` Revoked ${counted(tokens, 'token')}.` : '';
  const took = `Upheld ${counted(reports, 'report')}, and took ${code} down. ${owner}${ended}`;
  try {
    if (isBlocked) await blockContent(db, contentHash, by);
  } catch (error) {
    const message = `${took} The block then failed: ${messageOf(error)} Block the content again.`;
    throw new Error(message, { cause: error });
  }
  const json = { upheld: reports, content_hash: contentHash, user_id: userId, tokens, blocked: isBlocked };
  return { reports, outcome: isBlocked ? `${took} Blocked ${contentHash}.` : took, json };
}

/**
 * The subject is that of `uphold`, or `network` and the network that alone has reported the pastes. The
 * decision holds for the content, also in other pastes.
 */
export const reject: Action = {
  name: 'reject',
  title: 'Reject the reports',
  command: {
    name: 'reject',
    subjects: [paste],
    help: 'ends the reports of a paste, and of others with its content, which stays',
    reason: 'needed',
  },
  check: ({ db }, subject) =>
    check(
      db,
      subject,
      (pastes) =>
        `and releases ${pastes === 1 ? 'the paste if it is' : 'those of the pastes that are'} held. No more reports of the same content under the same title are taken.`,
    ),
  do: async ({ db }, subject, by, running) => {
    const codes = await codesOf(db, subject);
    if (codes.length === 1) return await rejectOne(db, codes[0] ?? '', by);
    return await judgeEach(codes, running, (code) => rejectOne(db, code, by), 'rejected', 'released');
  },
};

async function rejectOne(db: Database, code: string, { actor, reason }: ActedBy) {
  const done = await rejectReports(db, code, { actor, reason: reason ?? NO_REASON });
  if (done === null) throw new Refused(none(code));
  const { reports, pastes } = done;
  const outcome = `Rejected ${counted(reports, 'report')} of ${counted(pastes, 'paste')} with the content of ${code}.`;
  return { reports, outcome, json: { rejected: reports, pastes } };
}

/** Judges one paste after the other. Those that somebody else has judged meanwhile are passed over. */
async function judgeEach(
  codes: readonly string[],
  { signal, onProgress }: Running,
  judge: (code: string) => Promise<{ readonly reports: number; readonly outcome: string }>,
  verb: 'upheld' | 'rejected',
  effect: string,
) {
  const counts = { reports: 0, judged: 0, skipped: 0 };
  const done = (): string =>
    `${verb === 'upheld' ? 'Upheld' : 'Rejected'} ${counted(counts.reports, 'report')}, and ${effect} ${counted(counts.judged, 'paste')}`;
  for (const code of codes) {
    try {
      signal.throwIfAborted();
      const { reports, outcome } = await judge(code);
      counts.reports += reports;
      counts.judged += 1;
      onProgress(outcome);
    } catch (error) {
      if (!(error instanceof Refused)) {
        const message = `${done()}, and then failed: ${messageOf(error)} Do it again.`;
        throw new Error(message, { cause: error });
      }
      counts.skipped += 1;
    }
  }
  const { reports, judged, skipped } = counts;
  const rest = skipped === 0 ? '' : ` ${counted(skipped, 'paste')} had no open report any more.`;
  return { outcome: `${done()}.${rest}`, json: { [verb]: reports, pastes: judged, skipped } };
}

/** Of one action: the next one judges the rest. */
const MAX_PASTES = 1000;

async function codesOf(db: Database, subject: string): Promise<readonly string[]> {
  const [, network] = /^network ([0-9a-f]{8})$/.exec(subject) ?? [];
  if (network === undefined) return [...new Set(subject.split(' '))];
  const { pastes } = await listReported(db, { by: 'age', limit: MAX_PASTES, network, isOnlyReporter: true });
  return pastes.map(({ shortCode }) => shortCode);
}

async function check(
  db: Database,
  subject: string,
  effect: (pastes: number) => string,
): Promise<Meant | null> {
  const codes = await codesOf(db, subject);
  const chosen: TakedownClass[] = [];
  let pastes = 0;
  for (const code of codes) {
    const reported = await readReported(db, code);
    if (reported === null) continue;
    pastes += 1;
    chosen.push(...reported.reports.map((report) => report.class));
  }
  const [only = ''] = codes;
  if (pastes === 0 && codes.length === 1) {
    const isThere = isShortCode(only) && (await findPaste(db, only)) !== null;
    return isThere ? { count: 0, sentence: `${none(only)}.` } : null;
  }
  if (pastes === 0) return { count: 0, sentence: 'None of these pastes has an open report.' };
  const timesOf = (wanted: TakedownClass) => chosen.filter((each) => each === wanted).length;
  const most = takedownClasses.toSorted((a, b) => timesOf(b) - timesOf(a))[0] ?? 'other';
  const of = pastes === 1 ? '' : ` of ${counted(pastes, 'paste')}`;
  return {
    count: pastes,
    sentence: `This ends ${counted(chosen.length, 'report')}${of} ${effect(pastes)}`,
    class: most,
  };
}

function none(code: string): string {
  return `${code} has no open report: somebody else has judged them, or the paste is gone`;
}
