import { createCipheriv, createDecipheriv, hash, hkdfSync, randomBytes, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Request, Response } from 'express';
import {
  answerIdempotencyKey,
  claimIdempotencyKey,
  hasIdempotencyKey,
  releaseIdempotencyKey,
  type Database,
  type HeldKey,
} from '@pasteflow/postgres';
import type { Logger } from '@pasteflow/runtime';
import { RequestError } from '../answers/request-error.ts';
import { callerKeyOf } from '../callers/caller.ts';
import { contextOf, idsOf } from '../request/request-context.ts';
import { sendAnswer, type Answer } from '../answers/answer.ts';
import { callerOf } from '../callers/caller-of.ts';
import { mediaTypeOf } from '../request/media-type.ts';

/**
 * A claim without an answer expires after this, because its process has crashed. A running request waits
 * at most 5 s for its group or for a connection, and 10 s for its statement. One that waits for all of them
 * finds at its commit that the key is taken, and creates nothing.
 */
const HOLD_SECONDS = 15;

/** The key that a request has claimed. */
export interface KeyOfRequest {
  readonly held: HeldKey;
  /** Encrypts the answer for the row of the key. */
  readonly seal: (answer: Answer) => Buffer;
}

/**
 * A request that is new, or has no key. Who creates something for it stores the answer in the same transaction
 * (`commit` does), and releases the key when that fails.
 */
export class Claim {
  /** Null: the request has no key. */
  readonly key: KeyOfRequest | null;
  readonly #db: Database;
  readonly #warn: (error: unknown) => void;

  /** @param warn called when the key can't be released */
  constructor(key: KeyOfRequest | null, db: Database, warn: (error: unknown) => void) {
    this.key = key;
    this.#db = db;
    this.#warn = warn;
  }

  /**
   * Runs the statements of a POST. With a key, `create` runs in a transaction that also stores the answer, so
   * it must do nothing that a rollback can't undo.
   */
  async commit<Created extends { readonly answer: Answer }>(
    create: (db: Database) => Promise<Created>,
  ): Promise<Created> {
    const { key } = this;
    if (key === null) return await create(this.#db);
    try {
      return await this.#db.transaction().execute(async (tx) => {
        const created = await create(tx);
        if (!(await answerIdempotencyKey(tx, key.held, key.seal(created.answer)))) throw keyTaken();
        return created;
      });
    } catch (error) {
      await this.release();
      throw error;
    }
  }

  /**
   * After a failure: the client may repeat the request at once. When this fails too, Postgres is unavailable,
   * and the claim expires after HOLD_SECONDS. Never throws.
   */
  async release(): Promise<void> {
    if (this.key !== null) await releaseIdempotencyKey(this.#db, this.key.held).catch(this.#warn);
  }
}

/**
 * Makes a POST with an Idempotency-Key safe to repeat (ADR 11). One statement claims the key. One transaction,
 * fenced by the claim, creates the rows and stores the sealed answer.
 */
export class Idempotency {
  readonly #deps;

  /** @param deps.retentionSeconds how long an answer is replayed */
  constructor(deps: { readonly db: Database; readonly retentionSeconds: number; readonly logger: Logger }) {
    this.#deps = deps;
  }

  /**
   * Claims the request's key. A request that was answered before is answered again.
   * @param fingerprintInput the meaning of the body: a request that repeats a key with another one is refused
   * @param formKey for a form without the header. The same form with another text is another request, because
   * a writer may go back and change the text
   * @returns null: the request is answered
   * @throws RequestError idempotency_key_in_use, idempotency_key_reused
   */
  async claim(
    req: Request,
    res: Response,
    fingerprintInput: string,
    formKey: string | null = null,
  ): Promise<Claim | null> {
    const { db, retentionSeconds } = this.#deps;
    const sent = idempotencyKeyOf(req);
    if (sent === null && formKey === null) return this.#claimed(req, null);
    const caller = callerKeyOf(callerOf(req));
    const fingerprint = fingerprintOf(req, fingerprintInput);
    const key = sent ?? `${formKey} ${fingerprint.toString('hex')}`;
    const seal: Seal = { key, caller, fingerprint };
    const held = { caller, keyHash: hash('sha256', key, 'buffer'), claimId: randomUUID() };
    const found = await claimIdempotencyKey(db, {
      ...held,
      fingerprint,
      holdSeconds: HOLD_SECONDS,
      retentionSeconds,
    });
    if (found.kind !== 'claimed' && !found.fingerprint.equals(fingerprint)) throw keyReused();
    switch (found.kind) {
      case 'claimed':
        return this.#claimed(req, { held, seal: (answer) => sealAnswer(answer, seal) });
      case 'answered':
        contextOf(req).replayed = true;
        res.set('Idempotency-Replayed', 'true');
        sendAnswer(res, openAnswer(found.answer, seal));
        return null;
      case 'running':
        throw keyInUse(found.secondsLeft, sent === null);
      default:
        return found satisfies never;
    }
  }

  /**
   * Whether the key of a request is known, so that it may be answered again: also when a new request with the same
   * body would be refused before its body is read.
   */
  async isKnown(req: Request): Promise<boolean> {
    const key = idempotencyKeyOf(req);
    if (key === null) return false;
    const caller = callerKeyOf(callerOf(req));
    return await hasIdempotencyKey(this.#deps.db, { caller, keyHash: hash('sha256', key, 'buffer') });
  }

  #claimed(req: Request, key: KeyOfRequest | null): Claim {
    const { db, logger } = this.#deps;
    return new Claim(key, db, (error) =>
      logger.warn('idempotency key not released; its claim will expire', { ...idsOf(contextOf(req)), error }),
    );
  }
}

function keyReused(): RequestError {
  return new RequestError(
    'idempotency_key_reused',
    'This Idempotency-Key was sent with a different request. Send a new key with each new request.',
  );
}

/**
 * How long a client should wait before it repeats the request: as long as the claim has existed, but at least
 * 1 s and not longer than until the claim expires. This finds the outcome within 15 s in six tries.
 * @param secondsLeft until the claim expires
 */
export function retryAfterSeconds(secondsLeft: number): number {
  return Math.ceil(Math.max(1, Math.min(HOLD_SECONDS - secondsLeft, secondsLeft)));
}

/** The claim has expired, and another request has claimed the key. */
export function keyTaken(): RequestError {
  return keyInUse(HOLD_SECONDS);
}

/** @param isForm a browser without JavaScript has sent the form twice, and shows this answer */
function keyInUse(secondsLeft: number, isForm = false): RequestError {
  const seconds = retryAfterSeconds(secondsLeft);
  const detail = isForm
    ? 'The form was sent twice. Reload this page to get its answer.'
    : `The first request with this Idempotency-Key is still running. Repeat the request in ${seconds} s to get its answer.`;
  return new RequestError('idempotency_key_in_use', detail, { headers: { 'Retry-After': String(seconds) } });
}

/**
 * SHA-256 of what distinguishes two requests. `fingerprintInput` is the meaning of the body rather than its
 * bytes, because a client that sends a form again usually sends another boundary.
 */
function fingerprintOf(req: Request, fingerprintInput: string): Buffer {
  const { type, charset } = mediaTypeOf(req);
  const distinctive = [req.method, req.url, type, charset, fingerprintInput]; // the URL has the query
  return hash('sha256', JSON.stringify(distinctive), 'buffer');
}

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The inputs that seal an answer and open it. */
interface Seal {
  /** The Idempotency-Key as sent; the database has only its SHA-256. */
  readonly key: string;
  /** The owner of the key. */
  readonly caller: string;
  /** The fingerprint of the request: an answer that is copied into another row can't be opened there. */
  readonly fingerprint: Buffer;
}

/**
 * Encrypts an answer for the database, because it may contain a delete token. Only a client with the
 * Idempotency-Key can read it, so it is as secret as the key is hard to guess: a UUID is, `1` is not.
 * @returns nonce, tag and ciphertext
 */
function sealAnswer(answer: Answer, seal: Seal): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, secretOf(seal), nonce).setAAD(seal.fingerprint);
  const text = Buffer.concat([cipher.update(JSON.stringify(answer)), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), text]);
}

/** @throws Error when the answer was sealed with other inputs */
function openAnswer(sealed: Buffer, seal: Seal): Answer {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  const decipher = createDecipheriv(ALGORITHM, secretOf(seal), nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(seal.fingerprint).setAuthTag(tag);
  const text = Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
  return JSON.parse(text.toString()) as Answer;
}

function secretOf({ key, caller }: Seal): Buffer {
  return Buffer.from(hkdfSync('sha256', key, caller, 'pasteflow idempotency answer', 32));
}

/** 1 to 255 printable ASCII characters. HTTP strips spaces at either end. */
export const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/;

/**
 * The Idempotency-Key of a request; null: none.
 * @throws RequestError malformed_request, also for several keys, because which one counts would be undefined
 */
export function idempotencyKeyOf(req: IncomingMessage): string | null {
  const sent = req.headersDistinct['idempotency-key'];
  if (sent === undefined) return null;
  const [key = '', ...more] = sent;
  if (more.length === 0 && IDEMPOTENCY_KEY.test(key)) return key;
  throw new RequestError(
    'malformed_request',
    'Send one Idempotency-Key of 1 to 255 printable ASCII characters, e.g. a UUID.',
  );
}
