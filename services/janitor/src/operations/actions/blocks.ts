import { isShortCode } from '@pasteflow/domain';
import { blockContent, findBlocked, findPaste, unblockContent, type Database } from '@pasteflow/postgres';
import { counted } from '../reports/counted.ts';
import { NO_REASON, Refused, type Action } from './action.ts';
import { content } from './subjects.ts';

/** The subject is a hash, or the short code of a paste with the content (ADR 42). Older pastes stay. */
export const block: Action = {
  name: 'block',
  title: 'Block the content',
  command: {
    name: 'block',
    subjects: [content],
    help: 'refuses the content with this SHA-256; takes the code of a paste, too',
    reason: 'needed',
  },
  hasClass: true,
  check: async ({ db }, subject) => {
    const hash = await hashOf(db, subject);
    if (hash === null) return null;
    const isBlocked = (await findBlocked(db, [hash])).size > 0;
    const sentence = isBlocked
      ? 'The content is blocked already. This takes down what was created while it was blocked, if that was interrupted.'
      : 'This blocks 1 content: no paste with it is created any more.';
    return { count: 1, sentence };
  },
  do: async ({ db }, subject, by) => {
    const hash = await requireHash(db, subject);
    const reason = by.reason ?? NO_REASON;
    const { isNew, takenDown } = await blockContent(db, hash, { ...by, reason });
    const raced =
      takenDown.length > 0 ? ` Took down what was created at the same time: ${takenDown.join(', ')}.` : '';
    const outcome = isNew
      ? `Blocked ${hash}.${raced} Older pastes stay: take them down.`
      : `${hash} was blocked before.${raced}`;
    return { outcome, json: { content_hash: hash, blocked: isNew, taken_down: takenDown } };
  },
};

/** The subject is that of `block`. */
export const unblock: Action = {
  name: 'unblock',
  title: 'Unblock the content',
  command: { name: 'unblock', subjects: [content], help: 'lifts the block', reason: 'needed' },
  check: async ({ db }, subject) => {
    const hash = await hashOf(db, subject);
    if (hash === null) return null;
    const { size } = await findBlocked(db, [hash]);
    const sentence = `This lifts ${counted(size, 'block')}: everybody can paste the content again.`;
    return { count: size, sentence };
  },
  do: async ({ db }, subject, { actor, reason }) => {
    const hash = await requireHash(db, subject);
    if (!(await unblockContent(db, hash, { actor, reason: reason ?? NO_REASON })))
      throw new Refused(`${hash} is not blocked`);
    return { outcome: `Unblocked ${hash}.`, json: { content_hash: hash, unblocked: true } };
  },
};

async function hashOf(db: Database, subject: string): Promise<string | null> {
  if (/^sha256:[0-9a-f]{64}$/.test(subject)) return subject;
  return isShortCode(subject) ? ((await findPaste(db, subject))?.content_hash ?? null) : null;
}

async function requireHash(db: Database, subject: string): Promise<string> {
  const hash = await hashOf(db, subject);
  if (hash === null) throw new Refused(`there is no paste ${subject}`);
  return hash;
}
