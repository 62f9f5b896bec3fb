import { createHash, randomUUID } from 'node:crypto';
import type { Request, Response } from 'express';
import {
  answerIdempotencyKey,
  claimIdempotencyKey,
  releaseIdempotencyKey,
  type Database,
  type HeldKey,
} from '@pasteflow/postgres';
import type { Logger } from '@pasteflow/runtime';
import { callerOf } from '../identity/caller-of.ts';
import { sendAnswer, type Answer } from '../http/response/answer.ts';
import { scopeOf } from '../http/request/caller.ts';
import { contextOf, idsOf } from '../http/request/request-context.ts';
import { RequestError } from '../http/errors/request-error.ts';
import { fingerprintOf } from './fingerprint.ts';
import { idempotencyKeyOf } from './idempotency-key.ts';
import { openAnswer, sealAnswer, type Seal } from './sealed-answer.ts';

/** What a POST does, once its body has been read and found good. */
export interface Creation<Made> {
  /** What the body says: with the same key and something else here, a request is refused. */
  readonly said: string;
  /**
   * The statements. `db` is a transaction when the request has a key, so that what is made and the answer that tells of it are one commit.
   * Nothing that can't be rolled back belongs in here.
   */
  readonly create: (db: Database) => Promise<Made>;
  readonly answer: (made: Made) => Answer;
  /** What follows the commit: the message. Not for a replay, nor for a request that has lost its key. */
  readonly committed: (made: Made) => void;
}

/** Does what a POST asks for and answers it: once for each Idempotency-Key, however often the request comes. */
export type Once = <Made>(req: Request, res: Response, creation: Creation<Made>) => Promise<void>;

export interface OnceDependencies {
  readonly db: Database;
  /** For how long an answer is replayed. */
  readonly retentionSeconds: number;
  readonly logger: Logger;
}

/**
 * After this a key whose request has no answer is another's to take: its process is dead. The 5 s that a live one may wait for a connection
 * and the 10 s that its statement may run pass first. Nothing depends on it but patience: a request that is slower still finds its key
 * taken when it wants to commit, and makes nothing.
 */
const HOLD_SECONDS = 15;

/**
 * Without a key: `create` and nothing more. With one: one statement claims it, then a transaction creates and puts the answer into the key's
 * row, fenced by the claim. So there is no instant at which a process can die and leave a paste whose answer is lost.
 * @throws RequestError idempotency_key_in_use, idempotency_key_reused
 */
export function createOnce(deps: OnceDependencies): Once {
  return async (req, res, creation) => {
    const key = idempotencyKeyOf(req);
    if (key === null) {
      const made = await creation.create(deps.db);
      creation.committed(made);
      sendAnswer(res, creation.answer(made));
      return;
    }
    const caller = scopeOf(callerOf(req));
    const seal: Seal = { key, caller, fingerprint: fingerprintOf(req, creation.said) };
    const { fingerprint } = seal;
    const held = { caller, keyHash: createHash('sha256').update(key).digest(), claimId: randomUUID() };
    const { retentionSeconds } = deps;
    const claim = { ...held, fingerprint, holdSeconds: HOLD_SECONDS, retentionSeconds };
    const found = await claimIdempotencyKey(deps.db, claim);
    if (found.kind !== 'claimed' && !found.fingerprint.equals(fingerprint)) throw keyReused();
    switch (found.kind) {
      case 'claimed':
        sendAnswer(res, await createUnder(deps, idsOf(contextOf(req)), held, seal, creation));
        return;
      case 'answered':
        contextOf(req).replayed = true;
        res.set('Idempotency-Replayed', 'true');
        sendAnswer(res, openAnswer(found.answer, seal));
        return;
      case 'running':
        throw keyInUse(found.secondsLeft);
      default:
        found satisfies never;
    }
  };
}

/** Whatever fails, the key is free again at once, and the same request may come anew. */
async function createUnder<Made>(
  deps: OnceDependencies,
  ids: Readonly<Record<string, string>>,
  held: HeldKey,
  seal: Seal,
  { create, answer, committed }: Creation<Made>,
): Promise<Answer> {
  try {
    const done = await deps.db.transaction().execute(async (tx) => {
      const made = await create(tx);
      const kept = answer(made);
      if (!(await answerIdempotencyKey(tx, held, sealAnswer(kept, seal)))) throw keyInUse(HOLD_SECONDS);
      return { made, kept };
    });
    committed(done.made);
    return done.kept;
  } catch (error) {
    await release(deps, held, ids);
    throw error;
  }
}

/** Where that fails too, Postgres is away, and the claim lapses by itself. */
async function release(
  { db, logger }: OnceDependencies,
  held: HeldKey,
  ids: Readonly<Record<string, string>>,
): Promise<void> {
  try {
    await releaseIdempotencyKey(db, held);
  } catch (error) {
    logger.warn('an idempotency key stays claimed until its claim lapses', { ...ids, error });
  }
}

function keyReused(): RequestError {
  return new RequestError(
    'idempotency_key_reused',
    'This Idempotency-Key came with another request before; send a new one with each new request.',
  );
}

/**
 * A creation takes milliseconds, so that the wait begins with a second; but a claim that is still there after some is probably a dead
 * process's. Waiting for as long again as it has been there, until it lapses, finds either soon: within 15 s in six tries.
 * @param secondsLeft until the claim lapses
 */
export function patienceSeconds(secondsLeft: number): number {
  return Math.ceil(Math.max(1, Math.min(HOLD_SECONDS - secondsLeft, secondsLeft)));
}

function keyInUse(secondsLeft: number): RequestError {
  const seconds = patienceSeconds(secondsLeft);
  return new RequestError(
    'idempotency_key_in_use',
    `The first request with this Idempotency-Key is still running; send it again in ${seconds} s for its answer.`,
    { headers: { 'Retry-After': String(seconds) } },
  );
}
