import { isUuid } from '@pasteflow/domain';
import { countOwned, eraseUser } from '@pasteflow/postgres';
import { counted } from '../reports/counted.ts';
import { keptVersionsOrWhyNot } from '../reports/kept-versions.ts';
import { Refused, type Action } from './action.ts';
import { userId, userName } from './subjects.ts';

/** The subject is the id of a user: records of the action keep no name. */
export const erase: Action = {
  name: 'erase',
  title: 'Erase the user',
  uses: ['store'],
  command: {
    name: 'erase',
    subjects: [userName, userId],
    help: 'shows what the user with exactly this name has, and with --yes erases the user: first the tokens and the name, and then pastes, jobs and archives, for ever; takes --user ID instead of NAME',
    reason: 'needed',
    unconfirmed: {
      show: (meant) => ({ json: meant, text: meant.sentence }),
      missing: (id) => `there is no user ${id}, or the user is erased`,
      toDoIt: 'erase the user',
    },
  },
  check: async ({ db }, id) => {
    const owned = isUuid(id) ? await countOwned(db, id) : null;
    if (owned === null) return null;
    const { pastes, jobs, tokens } = owned;
    const all = `${counted(pastes, 'paste')}, ${counted(jobs, 'job')} and ${counted(tokens, 'token')}`;
    return {
      count: 1 + pastes + jobs,
      sentence: `This deletes the user with ${all} for ever. Offer the user an export first.`,
    };
  },
  do: async ({ db, store }, id) => {
    if (!(await eraseUser(db, id))) throw new Refused(`user ${id} does not exist or is being erased`);
    const outcome = `Ended the name, the tokens and the sessions of user ${id}. The sweep erasures deletes the rest.`;
    const kept = await keptVersionsOrWhyNot(store);
    return {
      outcome: kept === null ? outcome : `${outcome} ${kept}`,
      json: { user_id: id, kept_versions: kept },
    };
  },
};
