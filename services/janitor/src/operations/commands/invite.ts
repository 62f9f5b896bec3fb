import { isVisibleName } from '@pasteflow/domain';
import { hashOfSecret, newSecret } from '@pasteflow/http-kit';
import { ensureUser, findUserId, invite, type Database } from '@pasteflow/postgres';
import {
  asJson,
  commandName,
  formatMillisecond,
  misused,
  quote,
  succeeded,
  toOneLine,
} from '@pasteflow/service-kit';
import { Refused } from '../actions/action.ts';
import { operator } from '../actions/record.ts';
import { counted } from '../reports/counted.ts';
import type { OwnCommand } from './command.ts';
import { answerAndRecord } from './recorded-answer.ts';

const DAYS = 7;
const MAX_NAME_CHARACTERS = 1000;

/**
 * No action, because the operations page would show the outcome that is recorded, and the link is in no record. The
 * user is made before the record, which keeps no name.
 */
export const inviteUser: OwnCommand<{ readonly userName: string; readonly endsAll: boolean }> = {
  name: 'invite',
  takes: 'NAME',
  help: `shows once a link that signs one browser in as the user with this name, who is made if there is none, within ${DAYS} days; the links of the user before it end, and the sessions that they began, as for a lost device`,
  flags: { 'end-tokens': ['--end-tokens', 'revokes all tokens of the user, too'] },
  read: ([given = '', ...others], options) => {
    const userName = given.trim();
    return userName === '' || others.length > 0
      ? misused('invite takes the name of a user')
      : { userName, endsAll: options['end-tokens'] === true };
  },
  run: async ({ db, config: { publicUrl } }, { userName, endsAll, json }) => {
    if (publicUrl === undefined)
      throw new Refused('PUBLIC_URL is not set; set it to the URL of the api in a browser, as for the api');
    const knownId = await findUserId(db, userName);
    const userId = knownId ?? (await makeUser(db, userName));
    const record = { actor: operator(), action: 'invite', subject: userId, reason: null };
    return await answerAndRecord(db, record, async () => {
      const secret = newSecret();
      const invited = await invite(db, {
        userId,
        secretHash: hashOfSecret(secret),
        lastsSeconds: DAYS * 24 * 3600,
        endsAll,
      });
      if (invited === null) throw new Refused(`${quote(userName)} is erased; choose another name`);
      const { expiresAt } = invited;
      const link = `${publicUrl}/invitation/${secret}`;
      const until = formatMillisecond(expiresAt);
      const ended = endsAll
        ? `The links before have ended, and all tokens and sessions of the user: ${invited.ended}.`
        : `The links before have ended, and ${counted(invited.ended, 'session')} of them.`;
      const left =
        endsAll || knownId === null
          ? ''
          : `Tokens of the user stay. When a device is lost, invite again with --end-tokens, which ends all; ${commandName('token')} --list NAME shows them, and --revoke ID ends one.\n`;
      const shown = json
        ? asJson({
            user_id: userId,
            user: userName,
            link,
            expires_at: expiresAt,
            ended: invited.ended,
          })
        : `Invited ${toOneLine(userName)}. ${ended} The link works once, until ${until}, and is not shown again:\n${link}\n${left}`;
      return {
        answer: succeeded(shown),
        outcome: `Invited user ${userId}, until ${until}. ${ended}`,
      };
    });
  },
};

/** A user of an earlier release may have any name. @throws Refused */
async function makeUser(db: Database, name: string): Promise<string> {
  if (!isVisibleName(name) || name.length > MAX_NAME_CHARACTERS)
    throw new Refused(
      `there is no user ${quote(name.slice(0, 100))}; give a new user a name of one line without invisible characters, of up to ${MAX_NAME_CHARACTERS} characters`,
    );
  return await ensureUser(db, name);
}
