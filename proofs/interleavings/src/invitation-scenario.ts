import { createHash, randomBytes } from 'node:crypto';
import {
  acceptInvitation,
  type Database,
  eraseUser,
  invite,
  removeOldInvitations,
  removeOwnedRows,
} from '@pasteflow/postgres';
import { makeUsers } from '@pasteflow/postgres/testing';
import type { Scenario } from './harness/explore.ts';
import { operation, statement, type World } from './harness/operation.ts';
import { nothing } from './paste-scenario.ts';

/** Of the link that the user had before the schedule. */
const FIRST_SECRET = createHash('sha256').update('the first invitation').digest();

const member = { touches: ['user', 'invitation'] } as const;

const accept = statement('accept', member, async (db) => {
  const session = { sessionHash: randomBytes(32), lastsSeconds: 3600 };
  await acceptInvitation(db, { secretHash: FIRST_SECRET, ...session });
  return undefined;
});

const inviteAgain = statement('invite again', member, async (db, { userId }) => {
  await invite(db, { userId, secretHash: randomBytes(32), lastsSeconds: 3600 });
  return undefined;
});

const erase = operation(
  'erase the member',
  member,
  () => null,
  [eraseUser, removeOwnedRows].map((step) => ({
    statement: async (db: Database, { userId }: World) => {
      await step(db, userId);
      return undefined;
    },
  })),
);

/** As if all had expired long ago. */
const removeOld = statement(
  'remove invitations',
  { touches: ['invitation'], skips: ['invitation'] },
  async (db) => {
    await removeOldInvitations(db, { retentionSeconds: -7200, limit: 10 });
    return undefined;
  },
);

/** A link that nobody has accepted. */
export const invited: Scenario = {
  name: 'an invitation',
  operations: [accept, inviteAgain, erase, removeOld],
  prepare: async ({ db }) => {
    const [user] = await makeUsers(db, 1);
    const userId = user!.id;
    await invite(db, { userId, secretHash: FIRST_SECRET, lastsSeconds: 3600 });
    const lockPoints = {
      user: `SELECT FROM users WHERE id = '${userId}'`,
      invitation: `SELECT FROM invitations WHERE user_id = '${userId}'`,
    };
    return { ...nothing, userId, objects: new Set(), takenAtEnd: [], lockPoints };
  },
};
