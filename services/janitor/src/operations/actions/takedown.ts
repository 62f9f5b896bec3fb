import { isShortCode, isUuid } from '@pasteflow/domain';
import { countStanding, findPaste, findStanding, takeDown } from '@pasteflow/postgres';
import { commandName } from '@pasteflow/service-kit';
import { counted } from '../reports/counted.ts';
import { NO_REASON, Refused, type Action } from './action.ts';
import { messageOf } from './record.ts';
import { paste, userId } from './subjects.ts';

/** The subject is a short code (ADR 41). */
export const takedown: Action = {
  name: 'takedown',
  title: 'Take down the paste',
  command: {
    name: 'takedown',
    subjects: [paste],
    help: 'takes a paste down: readers get 451, and its content is deleted',
    reason: 'needed',
  },
  hasClass: true,
  check: async ({ db }, code) => {
    const found = isShortCode(code) ? await findPaste(db, code) : null;
    if (found === null) return null;
    const count = found.taken_down_for === null ? 1 : 0;
    const { files } = found;
    const all = files === null ? '' : `, with all of its ${files.length} files`;
    const sentence = `This takes down ${counted(count, 'paste')}${all}. Its readers get 451, and its content is deleted for ever.`;
    return { count, sentence };
  },
  do: async ({ db }, code, by) => {
    const { takenDown, before } = await takeDown(db, [code], { ...by, reason: by.reason ?? NO_REASON });
    const [taken] = takenDown;
    if (taken === undefined && before.length === 0) throw new Refused(`there is no paste ${code}`);
    const json = {
      taken_down: takenDown.length,
      before: before.length,
      content_hash: taken?.contentHash ?? null,
      user_id: taken?.userId ?? null,
    };
    if (taken === undefined) return { outcome: `${code} was taken down before.`, json };
    const owner = taken.userId === null ? 'It has no owner.' : `Its owner is the user ${taken.userId}.`;
    const when = taken.status === 'IN_PROGRESS' ? ' when its upload has ended' : '';
    const outcome = `Took ${code} down. ${owner} The cleanup deletes its content${when}.`;
    const advice = `To refuse the same content: ${commandName('ops')} block ${code} --reason TEXT`;
    return { outcome, json, terminal: `${outcome}\n${advice}` };
  },
};

/** Pastes in one transaction. It locks their rows for some 50 ms. */
const BATCH = 500;

/** Pastes between two lines of progress. */
const PROGRESS_STEP = 1000;

/**
 * The subject is the id of a user, whose pastes are taken down in batches, also those that the user creates
 * meanwhile. After an action that was cut off, another one takes down the rest.
 */
export const takedownUser: Action = {
  name: 'takedown-user',
  title: 'Take down all pastes of the user',
  command: {
    name: 'takedown',
    subjects: [userId],
    help: 'with --user ID instead of CODE shows how many pastes the user has, and with --yes takes them all down',
    reason: 'needed',
    unconfirmed: {
      show: ({ count }, id) => ({
        json: { standing: count },
        text: `The user ${id} has ${counted(count, 'paste')} that can be taken down.`,
      }),
      missing: (id) => `there is no user ${id}`,
      toDoIt: 'take them down',
    },
  },
  hasClass: true,
  check: async ({ db }, id) => {
    if (!isUuid(id)) return null;
    const count = await countStanding(db, id);
    const sentence = `This takes down ${counted(count, 'paste')}. Their readers get 451, and their content is deleted for ever.`;
    return { count, sentence };
  },
  do: async ({ db }, id, by, { signal, onProgress }) => {
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
