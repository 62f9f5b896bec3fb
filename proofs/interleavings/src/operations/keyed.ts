import { createHash, randomUUID } from 'node:crypto';
import {
  answerIdempotencyKey,
  answerIdempotencyKeys,
  claimIdempotencyKey,
  createPaste,
  createPastes,
  releaseIdempotencyKey,
  type HeldKey,
} from '@pasteflow/postgres';
import { pasteToCreate } from '@pasteflow/postgres/testing';
import { KEYED_CODE, operation, type Statement } from '../harness/operation.ts';

interface Request {
  readonly held: HeldKey;
  holdsKey: boolean;
}

const nothing = { touches: [] } as const;

/** All requests have the same key. */
const newRequest = (): Request => ({
  held: {
    caller: 'address:127.0.0.1',
    keyHash: createHash('sha256').update('key').digest(),
    claimId: randomUUID(),
  },
  holdsKey: false,
});

/**
 * @param holdSeconds 0: the claim has expired when the next request comes, as after a process that was frozen
 */
const claimKey = (holdSeconds: number): Statement<Request> => ({
  statement: async (db, _world, _actor, request) => {
    const claim = { ...request.held, fingerprint: Buffer.alloc(32), holdSeconds, retentionSeconds: 3600 };
    request.holdsKey = (await claimIdempotencyKey(db, claim)).kind === 'claimed';
    return request.holdsKey ? undefined : { changed: false };
  },
});

const keyedPaste = ({ held }: Request) =>
  pasteToCreate({ shortCode: `${KEYED_CODE}${held.claimId.replaceAll('-', '').slice(0, 20)}` });

/** Paste and answer in one transaction, which is rolled back when another request has taken the key. */
const createAndAnswer: Statement<Request> = {
  statement: async (db, _world, _actor, request) => {
    await createPaste(db, keyedPaste(request));
    const isHeld = await answerIdempotencyKey(db, request.held, Buffer.from('201'));
    return isHeld ? undefined : { rolledBack: true };
  },
};

/** The same in a group, which is rolled back as a whole. */
const createAndAnswerInGroup: Statement<Request> = {
  statement: async (db, _world, _actor, request) => {
    await createPastes(db, [keyedPaste(request), pasteToCreate()]);
    const kept = await answerIdempotencyKeys(db, [{ ...request.held, answer: Buffer.from('201') }]);
    return kept === 1 ? undefined : { rolledBack: true };
  },
};

const releaseKey: Statement<Request> = {
  statement: async (db, _world, _actor, { held }) => {
    await releaseIdempotencyKey(db, held);
    return undefined;
  },
};

export const keyedCreate = operation('create with a key', nothing, newRequest, [
  claimKey(15),
  createAndAnswer,
]);

export const groupedKeyedCreate = operation('create with a key in a group', nothing, newRequest, [
  claimKey(15),
  createAndAnswerInGroup,
]);

/** Its claim has expired before it creates anything. */
export const slowKeyedCreate = operation('create with a key slowly', nothing, newRequest, [
  claimKey(0),
  createAndAnswer,
]);

/**
 * The client disconnects, or the insert fails, after the claim: nothing is created, and the key is released.
 */
export const cancelledKeyedCreate = operation('cancelled create with a key', nothing, newRequest, [
  claimKey(15),
  releaseKey,
]);

/**
 * The client disconnects while the transaction runs: the api finishes, and releases the key after the commit,
 * too.
 */
export const abandonedKeyedCreate = operation('abandoned create with a key', nothing, newRequest, [
  claimKey(15),
  createAndAnswer,
  releaseKey,
]);
