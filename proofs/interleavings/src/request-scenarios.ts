import { createSecretRequest, findSecretRequest, insertDeposit, takePlace } from '@pasteflow/postgres';
import { makeUsers, type PasteShape } from '@pasteflow/postgres/testing';
import { sql } from 'kysely';
import type { Scenario } from './harness/explore.ts';
import type { Operation } from './harness/operation.ts';
import { cleanup, removeOldFailed, removeOldTombstones } from './operations/deletions.ts';
import {
  cancelRequest,
  deposit,
  eraseAsker,
  expireRequest,
  keyedDeposit,
  refusedDeposit,
  removeRequests,
} from './operations/requests.ts';
import { retryByOperator, takeDownByOperator } from './operations/uploads.ts';
import { paste } from './paste-scenario.ts';

const REQUEST_CODE = 'interleavedrequest0042';

/** A request with one place left, whose one deposit is a paste of this shape. */
function request(name: string, shape: PasteShape, operations: readonly Operation[]): Scenario {
  return {
    name,
    operations,
    prepare: async (lane) => {
      const { db } = lane;
      await sql`DROP TRIGGER IF EXISTS guard_secret_requests_identity ON secret_requests`.execute(db); // an expiry is an UPDATE
      const [user] = await makeUsers(db, 1);
      const userId = user!.id;
      const world = await paste(name, { ...shape, userId, visibility: 'private' }, []).prepare(lane);
      await createSecretRequest(db, {
        code: REQUEST_CODE,
        userId,
        message: null,
        places: 2,
        expiresInSeconds: 3600,
      });
      await db.transaction().execute(async (tx) => {
        const place = await takePlace(tx, REQUEST_CODE, 'api/before');
        await insertDeposit(tx, { ...place!, shortCode: world.shortCode, wrappedKey: Buffer.alloc(113, 1) });
      });
      const { id } = (await findSecretRequest(db, REQUEST_CODE))!;
      const lockPoints = {
        ...world.lockPoints,
        request: `SELECT FROM secret_requests WHERE id = '${id}'`,
        user: `SELECT FROM users WHERE id = '${userId}'`,
      };
      return { ...world, lockPoints, userId, requestCode: REQUEST_CODE };
    },
  };
}

const TWO_HOURS = 7200;

export const requestScenarios: readonly Scenario[] = [
  request(
    'a request with one place left',
    { status: 'PROCESSED', expiresInSeconds: -1, createdSecondsAgo: TWO_HOURS },
    [
      deposit,
      keyedDeposit,
      refusedDeposit,
      cancelRequest,
      expireRequest,
      removeRequests,
      eraseAsker,
      cleanup,
    ],
  ),
  request('a request with a failed deposit', { status: 'FAILED', createdSecondsAgo: TWO_HOURS }, [
    deposit,
    retryByOperator,
    removeOldFailed,
    takeDownByOperator,
    cancelRequest,
    eraseAsker,
  ]),
  request(
    'a request with a deleted deposit',
    {
      status: 'PROCESSED',
      expiresInSeconds: -1,
      deletion: { status: 'DELETED', secondsAgo: TWO_HOURS },
    },
    [deposit, removeOldTombstones, expireRequest, removeRequests, eraseAsker],
  ),
];
