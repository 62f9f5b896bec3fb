import type { Request, Response } from 'express';
import {
  DEFAULT_EXPIRY_SECONDS,
  type House,
  INLINE_CONTENT_BYTES,
  longestExpiry,
  QuotaExceededError,
} from '@pasteflow/domain';
import {
  findQuotaRefusal,
  findSecretRequest,
  insertDeposit,
  takePlace,
  type CreatedPaste,
  type Database,
  type SecretRequest,
} from '@pasteflow/postgres';
import { contentHashOf, encryptionErrors } from '@pasteflow/service-kit';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { jsonAnswer, sendAnswer, type Answer } from '../http/answers/answer.ts';
import { RequestError, validate, validationFailed } from '../http/answers/request-error.ts';
import { freeMemory } from '../http/body/body-bytes.ts';
import { parseJson } from '../http/body/json-body.ts';
import { readBody } from '../http/body/read-body.ts';
import { callerOf } from '../http/callers/caller-of.ts';
import type { Endpoint } from '../http/openapi/endpoint.ts';
import { jsonResponse } from '../http/openapi/formats.ts';
import { assertUtf8, mediaTypeOf } from '../http/request/media-type.ts';
import { contextOf, messageContextOf } from '../http/request/request-context.ts';
import type { PasteWithoutCode } from '../storage/paste-inserts.ts';
import {
  closedFor,
  findErrors,
  findNamedRequest,
  namedRequest,
  requestClosed,
  requestNotFound,
} from './find-request.ts';
import { exampleRequest } from './request-view.ts';

/** Of HPKE: the encapsulated key, and the sealed one with its tag. */
const WRAPPED_KEY_BYTES = 113;
const KEY_RULE = 'must be the wrapped key: 151 characters of base64url';

const depositSchema = z
  .strictObject({
    content: z
      .string('must be a text')
      .min(1, 'must not be empty')
      .meta({ description: 'The encrypted document as a text, as the content of an encrypted paste.' }),
    wrapped_key: z
      .string(KEY_RULE)
      .regex(/^[\w-]{151}$/, KEY_RULE)
      .transform((text) => Buffer.from(text, 'base64url'))
      .refine((bytes) => bytes.length === WRAPPED_KEY_BYTES, KEY_RULE)
      .meta({
        description: 'The key of the document, wrapped for the public key in the link: see `Deposit`.',
      }),
  })
  .meta({ id: 'NewDeposit', description: 'A secret for who asks.' });

const receiptSchema = z
  .object({
    receipt: z.string().meta({
      description:
        'The short code of the deposit. It names the deposit to who asked and to the operator, and opens nothing for anybody else.',
    }),
  })
  .meta({ id: 'DepositReceipt', description: 'The deposit is stored durably.' });

/** Beside the ciphertext, the body has the cipher parameters and the wrapped key. */
const OVERHEAD_BYTES = 4096;
/** As a paste in JSON. */
const WEIGHT = 2;
const JSON_LIMITS = { maxDepth: 2, maxValues: 8 };

/** POST /v1/requests/:id/deposits */
export function depositSecret(api: ApiContext): Endpoint {
  return {
    operation: {
      operationId: 'depositSecret',
      tag: 'requests',
      access: 'anyone',
      summary: 'Deposits a secret for a request.',
      description:
        'Encrypt the secret as a paste, and wrap its key for the public key in the link. The deposit takes a place of the request, becomes a ' +
        'private paste of who asks, and expires after 30 days, or after the longest time of this service if that is less. The sender pays the limits, and who asks the quotas. It works without a token ' +
        'also where pastes need one.',
      params: { path: namedRequest },
      body: {
        required: true,
        description: `An encrypted document of at most ${api.maxPasteBytes} bytes, and its wrapped key.`,
        content: { 'application/json': { schema: depositSchema, example: exampleRequest.deposit } },
      },
      answers: { 201: jsonResponse('The deposit is stored durably.', receiptSchema) },
      errors: [
        ...findErrors,
        'request_closed',
        'request_used_up',
        'content_too_large',
        'content_blocked',
        'quota_exceeded',
        'storage_full',
        'validation_failed',
        'unsupported_media_type',
        'unsupported_encoding',
        'short_code_taken',
        'overloaded',
      ],
    },
    handle: (req, res) => deposit(api, req, res),
  };
}

/** Refuse what can be refused, receive, claim the Idempotency-Key, take a place, insert, answer; then dispatch. */
async function deposit(api: ApiContext, req: Request, res: Response): Promise<void> {
  const caller = callerOf(req);
  api.limits.refuseUsedUpBytes(res, caller);
  await refuseBeforeBody(api, req);
  const { content, wrappedKey } = await receive(api, req, res);
  const context = contextOf(req);
  context.sizeBytes = content.length;
  const contentHash = contentHashOf(content);
  const claim = await api.idempotency.claim(
    req,
    res,
    JSON.stringify([contentHash, wrappedKey.toString('base64url')]),
  );
  if (claim === null) return;

  let giveBackBytes = (): void => {};
  let deposited: Deposited;
  try {
    giveBackBytes = await api.limits.spendBytes(res, caller, content.length);
    const paste = { content, contentHash, ...OPTIONS, expiresInSeconds: secondsOf(api.house) };
    const deposit = { code: String(req.params.id), paste, wrappedKey };
    deposited = await claim.commit((db) => inTransaction(db, (tx) => insert(api, tx, deposit)));
  } catch (error) {
    giveBackBytes();
    await claim.release();
    throw forDepositor(error);
  }

  const { answer, created } = deposited;
  context.shortCode = created.shortCode;
  api.events.pasteCreated('deposit', content.length);
  api.dispatcher.dispatch({
    executionId: created.executionId,
    shortCode: created.shortCode,
    content: content.length <= INLINE_CONTENT_BYTES ? content : null,
    context: messageContextOf(context),
  });
  sendAnswer(res, answer);
}

/**
 * Nobody uploads in vain what can be refused at once. A request with a known Idempotency-Key goes on: its deposit may
 * be the one that has used up the request.
 * @throws RequestError request_not_found, request_closed, request_used_up, quota_exceeded, storage_full
 */
async function refuseBeforeBody(api: ApiContext, req: Request): Promise<void> {
  const request = await findNamedRequest(api.db, req);
  const refusal = closedFor(request) ?? (await overQuota(api, req, request));
  if (refusal !== null && !(await api.idempotency.isKnown(req))) throw refusal;
}

async function overQuota(
  { db, quotas }: ApiContext,
  req: Request,
  { userId }: SecretRequest,
): Promise<RequestError | null> {
  if (quotas === null) return null;
  const sizeBytes = Math.max(1, Number(req.get('content-length') ?? 0) - OVERHEAD_BYTES);
  const usedUp = await findQuotaRefusal(db, { userId, sizeBytes }, quotas);
  return usedUp && overQuotaOf(new QuotaExceededError(usedUp));
}

async function receive(
  { maxPasteBytes, bodies: budget }: ApiContext,
  req: Request,
  res: Response,
): Promise<{ readonly content: Buffer; readonly wrappedKey: Buffer }> {
  const mediaType = mediaTypeOf(req);
  if (mediaType.type !== 'application/json')
    throw new RequestError('unsupported_media_type', 'Send the deposit as application/json.');
  assertUtf8(mediaType);
  const tooLarge = (): RequestError =>
    new RequestError('content_too_large', `Send at most ${maxPasteBytes} bytes of encrypted content.`);
  const maxBytes = maxPasteBytes + OVERHEAD_BYTES;
  const body = await readBody(req, res, { maxBytes, tooLarge, budget, weight: WEIGHT });
  const document = parseJson(body, JSON_LIMITS);
  freeMemory(body);
  const sent = validate(depositSchema, document);
  const content = Buffer.from(sent.content);
  if (content.length > maxPasteBytes) throw tooLarge();
  const errors = encryptionErrors({ content, ...OPTIONS, expiresInSeconds: undefined });
  if (errors.length > 0) throw validationFailed(errors.map(withoutBurn));
  return { content, wrappedKey: sent.wrapped_key };
}

const OPTIONS = {
  title: null,
  syntax: null,
  encrypted: true,
  visibility: 'private',
} as const;

/** The asker may be away for some weeks. */
function secondsOf(house: House): number {
  return Math.min(DEFAULT_EXPIRY_SECONDS, longestExpiry(house, false));
}

/** A deposit has no option `burn`. */
function withoutBurn(error: { readonly path: string; readonly message: string }) {
  if (error.path !== 'burn') return error;
  return { path: 'content.adata.3', message: 'must be 0: a deposit is not deleted when it is read' };
}

interface Deposited {
  readonly created: CreatedPaste;
  readonly answer: Answer;
}

async function inTransaction<T>(db: Database, run: (tx: Database) => Promise<T>): Promise<T> {
  return db.isTransaction ? await run(db) : await db.transaction().execute(run);
}

/** The lock on the request comes first. When anything fails, the place is free. */
async function insert(
  { inserts, actor }: ApiContext,
  tx: Database,
  {
    code,
    paste,
    wrappedKey,
  }: {
    readonly code: string;
    readonly paste: Omit<PasteWithoutCode, 'userId' | 'deleteTokenHash'>;
    readonly wrappedKey: Buffer;
  },
): Promise<Deposited> {
  const place = await takePlace(tx, code, actor);
  if (place === null) {
    const request = await findSecretRequest(tx, code);
    throw request === null ? requestNotFound() : (closedFor(request) ?? requestClosed());
  }
  const { userId, ...taken } = place;
  const created = await inserts.insertWithin(tx, { ...paste, userId, deleteTokenHash: null });
  await insertDeposit(tx, { ...taken, shortCode: created.shortCode, wrappedKey });
  const receipt: z.output<typeof receiptSchema> = { receipt: created.shortCode };
  return { created, answer: jsonAnswer(201, receipt) };
}

/** What a depositor is told of the asker: no figures, and nothing of an erasure. */
function forDepositor(error: unknown): unknown {
  if (error instanceof QuotaExceededError) return overQuotaOf(error);
  return error instanceof RequestError && error.code === 'unauthorized' ? requestNotFound() : error;
}

function overQuotaOf({ code }: QuotaExceededError): RequestError {
  return new RequestError(
    code === 'storage_full' ? code : 'quota_exceeded',
    'There is no room for your deposit, so nothing was stored. Tell the person who asks: they can delete pastes, or ask the operator.',
  );
}
