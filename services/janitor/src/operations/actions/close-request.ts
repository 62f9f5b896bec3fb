import { isRequestCode } from '@pasteflow/domain';
import { cancelSecretRequest, findSecretRequest } from '@pasteflow/postgres';
import { counted } from '../reports/counted.ts';
import { NO_REASON, Refused, type Action } from './action.ts';
import { secretRequest } from './subjects.ts';

/** The subject is the id of a request for secrets, as in its link. */
export const closeRequest: Action = {
  name: 'close-request',
  title: 'Close the request for secrets',
  command: {
    name: 'close-request',
    subjects: [secretRequest],
    help: 'closes a request for secrets: it takes no deposits any more, and those that it has stay',
    reason: 'needed',
  },
  check: async ({ db }, code) => {
    const found = isRequestCode(code) ? await findSecretRequest(db, code) : null;
    if (found === null) return null;
    const { status, userId, taken, places, message } = found;
    const count = status === 'OPEN' ? 1 : 0;
    const asks = message === null ? '' : ` It asks: ${message}`;
    const sentence = `This closes ${counted(count, 'request')} for secrets. Its user is ${userId}, it is ${status}, and ${taken} of ${places} are deposited, which stay.${asks}`;
    return { count, sentence };
  },
  do: async ({ db }, code, { actor, reason }) => {
    const by = { userId: null, actor, reason: reason ?? NO_REASON };
    const isClosed = isRequestCode(code) && (await cancelSecretRequest(db, code, by));
    const found = isRequestCode(code) ? await findSecretRequest(db, code) : null;
    if (found === null) throw new Refused(`there is no request ${code}`);
    const { status, userId, taken, places } = found;
    if (!isClosed)
      throw new Refused(
        `the request ${code} is ${status} and takes no deposits, so there is nothing to close`,
      );
    const outcome = `Closed the request ${code}. Its user is ${userId}, and ${taken} of ${places} are deposited, which stay.`;
    return { outcome, json: { request: code, user_id: userId, deposits: taken } };
  },
};
