import { isShortCode, isUuid } from '@pasteflow/domain';
import { countStanding, findPaste, findStanding, takeDown, type Database } from '@pasteflow/postgres';
import { commandName } from '@pasteflow/service-kit';
import { counted } from '../reports/counted.ts';
import { NO_REASON, Refused, type Action } from './action.ts';
import { messageOf } from './record.ts';

/** The subject is a short code (ADR 41). */
export function takedown(db: Database): Action {
  return {
    title: 'Take down the paste',
    hasClass: true,
    check: async (code) => {
      const paste = isShortCode(code) ? await findPaste(db, code) : null;
      if (paste === null) return null;
      const count = paste.taken_down_for === null ? 1 : 0;
      const sentence = `This takes down ${counted(count, 'paste')}. Its readers get 451, and its content is deleted for ever.`;
      return { count, sentence };
    },
    do: async (code, by) => {
      const { takenDown, before } = await takeDown(db, [code], { ...by, reason: by.reason ?? NO_REASON });
      const [paste] = takenDown;
      if (paste === undefined && before.length === 0) throw new Refused(`there is no paste ${code}`);
      const json = {
        taken_down: takenDown.length,
        before: before.length,
        content_hash: paste?.contentHash ?? null,
        user_id: paste?.userId ?? null,
      };
      if (paste === undefined) return { outcome: `${code} was taken down before.`, json };
      const owner = paste.userId === null ? 'It has no owner.' : `Its owner is the user ${paste.userId}.`;
      const when = paste.status === 'IN_PROGRESS' ? ' when its upload has ended' : '';
      const outcome = `Took ${code} down. ${owner} The cleanup deletes its content${when}.`;
      const advice = `To refuse the same content: ${commandName('ops')} block ${code} --reason TEXT`;
      return { outcome, json, terminal: `${outcome}\n${advice}` };
    },
  };
}

/** Pastes in one transaction. It locks their rows for some 50 ms. */
const BATCH = 500;

/** Pastes between two lines of progress. */
const PROGRESS_STEP = 1000;

/**
 * The subject is the id of a user, whose pastes are taken down in batches, also those that the user creates
 * meanwhile. After an action that was cut off, another one takes down the rest.
 */
export function takedownUser(db: Database): Action {
  return {
    title: 'Take down all pastes of the user',
    hasClass: true,
    check: async (id) => {
      if (!isUuid(id)) return null;
      const count = await countStanding(db, id);
      const sentence = `This takes down ${counted(count, 'paste')}. Their readers get 451, and their content is deleted for ever.`;
      return { count, sentence };
    },
    do: async (id, by, { signal, onProgress }) => {
      const standing = await countStanding(db, id);
      let done = 0;
      let reported = 0;
      try {
        for (;;) {
          signal.throwIfAborted();
          const codes = await findStanding(db, id, BATCH);
          if (codes.length === 0) break;
          const { takenDown } = await takeDown(db, codes, { ...by, reason: by.reason ?? NO_REASON });
          done += takenDown.length;
          if (done - reported < PROGRESS_STEP) continue;
          reported = done;
          onProgress(`${done} of ${standing} pastes taken down`);
        }
      } catch (error) {
        const message = `Took ${counted(done, 'paste')} down, and then failed: ${messageOf(error)} Do it again.`;
        throw new Error(message, { cause: error });
      }
      return { outcome: `Took ${counted(done, 'paste')} down.`, json: { taken_down: done } };
    },
  };
}
