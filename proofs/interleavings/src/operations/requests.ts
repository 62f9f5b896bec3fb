import { createHash, randomBytes, randomUUID } from 'node:crypto';
import {
  answerIdempotencyKey,
  cancelSecretRequest,
  claimIdempotencyKey,
  createPaste,
  type Database,
  eraseUser,
  type HeldKey,
  insertDeposit,
  removeOldRequests,
  removeOwnedRows,
  takePlace,
} from '@pasteflow/postgres';
import { pasteToCreate } from '@pasteflow/postgres/testing';
import { sql } from 'kysely';
import {
  DEPOSIT_CODE,
  KEYED_CODE,
  operation,
  type Read,
  statement,
  type World,
} from '../harness/operation.ts';

const request = { touches: ['request'] } as const;
const depositing = { touches: ['request', 'user'] } as const;

const MINE = { rolledBack: true } as const;
const BATCH = 10;
const WRAPPED_KEY = Buffer.alloc(113);

/** Place, paste and deposit. @returns whether the request has taken the deposit; otherwise, roll back */
async function depositIn(tx: Database, { requestCode }: World, actor: string, shortCode: string) {
  const place = await takePlace(tx, requestCode, actor);
  if (place === null) return false;
  const { userId, requestId, number } = place;
  if ((await createPaste(tx, pasteToCreate({ userId, visibility: 'private', shortCode }))) === null)
    return false; // its user is erased
  await insertDeposit(tx, { requestId, number, shortCode, wrappedKey: WRAPPED_KEY });
  return true;
}

const codeFrom = (prefix: string): string => `${prefix}${randomBytes(5).toString('hex')}`;

export const deposit = statement('deposit', depositing, async (db, world, actor) =>
  (await depositIn(db, world, actor, codeFrom(DEPOSIT_CODE))) ? undefined : MINE,
);

/** The quota is used up, or the process dies, after all statements. */
export const refusedDeposit = statement('refused deposit', depositing, async (db, world, actor) => {
  await depositIn(db, world, actor, codeFrom(DEPOSIT_CODE));
  return MINE;
});

/** All have the same key. The claim of each has expired when the next one comes. */
export const keyedDeposit = operation(
  'deposit with a key',
  depositing,
  (): HeldKey => ({
    caller: 'address:127.0.0.1',
    keyHash: createHash('sha256').update('key').digest(),
    claimId: randomUUID(),
  }),
  [
    {
      statement: async (db, _world, _actor, held) => {
        const claim = { ...held, fingerprint: Buffer.alloc(32), holdSeconds: 0, retentionSeconds: 3600 };
        return (await claimIdempotencyKey(db, claim)).kind === 'claimed' ? undefined : { changed: false };
      },
    },
    {
      statement: async (db, world, actor, held) => {
        const isTaken = await depositIn(db, world, actor, codeFrom(KEYED_CODE));
        return isTaken && (await answerIdempotencyKey(db, held, Buffer.from('201'))) ? undefined : MINE;
      },
    },
  ],
);

/** After the commit of what ends a request: how many deposits it has, and must have for ever. */
const lookAtTaken: Read<null> = {
  read: async (db, { requestCode, takenAtEnd }) => {
    const { rows } = await sql<{ taken: number }>`
      SELECT taken FROM secret_requests WHERE code = ${requestCode} AND (status = 'CANCELLED' OR expires_at <= now())`.execute(
      db,
    );
    for (const { taken } of rows) takenAtEnd.push(taken);
    return true;
  },
};

export const cancelRequest = operation('cancel request', request, () => null, [
  {
    statement: async (db, { requestCode, userId }, actor) => ({
      changed: await cancelSecretRequest(db, requestCode, { userId, actor, reason: 'cancelled by its user' }),
    }),
  },
  lookAtTaken,
]);

/** As if its time had passed long ago. The scenario has dropped the guard of the column. */
export const expireRequest = operation('expire request', request, () => null, [
  {
    statement: async (db, { requestCode }) => {
      await sql`UPDATE secret_requests SET expires_at = now() - interval '2 hours' WHERE code = ${requestCode}`.execute(
        db,
      );
      return undefined;
    },
  },
  lookAtTaken,
]);

export const removeRequests = statement(
  'remove requests',
  { touches: ['request'], skips: ['request'] },
  async (db) => {
    await removeOldRequests(db, { retentionSeconds: 3600, limit: BATCH });
    return undefined;
  },
);

/** The user who asks ends the account, and the sweep removes the requests. */
export const eraseAsker = operation(
  'erase the asker',
  depositing,
  () => null,
  [eraseUser, removeOwnedRows].map((step) => ({
    statement: async (db: Database, { userId }: World) => {
      await step(db, userId);
      return undefined;
    },
  })),
);
