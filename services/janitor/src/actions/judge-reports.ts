import { isShortCode } from '@pasteflow/domain';
import { blockContent, findPaste, rejectReports, upholdReports, type Database } from '@pasteflow/postgres';
import { readReported } from '../reports/read-reported.ts';
import { counted } from '../reports/counted.ts';
import { NO_REASON, Refused, type Action } from './action.ts';
import { messageOf } from './record.ts';

/** The subject is the short code of a paste with open reports. */
export function uphold(db: Database): Action {
  return {
    title: 'Uphold the reports, and take down the paste',
    hasClass: true,
    options: ['block', 'end-tokens'],
    check: (code) =>
      check(db, code, 'and takes down 1 paste. Its readers get 451, and its content is deleted for ever.'),
    do: async (code, { actor, class: why, reason, also = [] }) => {
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
      const json = {
        upheld: reports,
        content_hash: contentHash,
        user_id: userId,
        tokens,
        blocked: isBlocked,
      };
      return { outcome: isBlocked ? `${took} Blocked ${contentHash}.` : took, json };
    },
  };
}

/** The subject is that of `uphold`. The decision holds for the content, also in other pastes. */
export function reject(db: Database): Action {
  return {
    title: 'Reject the reports',
    check: (code) =>
      check(db, code, 'and releases the paste if it is held. No more reports of the same content are taken.'),
    do: async (code, { actor, reason }) => {
      const done = await rejectReports(db, code, { actor, reason: reason ?? NO_REASON });
      if (done === null) throw new Refused(none(code));
      const { reports, pastes } = done;
      const outcome = `Rejected ${counted(reports, 'report')} of ${counted(pastes, 'paste')} with the content of ${code}.`;
      return { outcome, json: { rejected: reports, pastes } };
    },
  };
}

async function check(db: Database, code: string, effect: string) {
  const paste = isShortCode(code) ? await findPaste(db, code) : null;
  if (paste === null) return null;
  const reported = await readReported(db, code);
  if (reported === null) return { count: 0, sentence: `${none(code)}.` };
  return { count: 1, sentence: `This ends ${counted(reported.reports.length, 'report')} ${effect}` };
}

function none(code: string): string {
  return `${code} has no open report: somebody else has judged them, or the paste is gone`;
}
