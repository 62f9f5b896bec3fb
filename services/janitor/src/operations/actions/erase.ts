import { isUuid } from '@pasteflow/domain';
import { countOwned, eraseUser, type Database } from '@pasteflow/postgres';
import { counted } from '../reports/counted.ts';
import { Refused, type Action } from './action.ts';

/**
 * The subject is the id of a user: records of the action keep no name.
 * @param keptVersions what the bucket keeps for too long, for the outcome
 */
export function erase(
  db: Database,
  keptVersions: () => Promise<string | null> = () => Promise.resolve(null),
): Action {
  return {
    title: 'Erase the user',
    check: async (id) => {
      const owned = isUuid(id) ? await countOwned(db, id) : null;
      if (owned === null) return null;
      const { pastes, jobs, tokens } = owned;
      const all = `${counted(pastes, 'paste')}, ${counted(jobs, 'job')} and ${counted(tokens, 'token')}`;
      return {
        count: 1 + pastes + jobs,
        sentence: `This deletes the user with ${all} for ever. Offer the user an export first.`,
      };
    },
    do: async (id) => {
      if (!(await eraseUser(db, id))) throw new Refused(`user ${id} does not exist or is being erased`);
      const outcome = `Ended the name, the tokens and the sessions of user ${id}. The sweep erasures deletes the rest.`;
      const kept = await keptVersions();
      return {
        outcome: kept === null ? outcome : `${outcome} ${kept}`,
        json: { user_id: id, kept_versions: kept },
      };
    },
  };
}
