import type { Request } from 'express';
import { z } from 'zod';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import type { ServerResponse } from 'node:http';
import { DependencyUnavailableError } from '@pasteflow/domain';
import { isTimeout, type PasteRow, revealPaste as claimForReader } from '@pasteflow/postgres';
import { markupBytesOf } from '@pasteflow/web';
import type { ApiContext } from '../context.ts';
import { MAX_WHOLE_BYTES } from '../http/limits/download-budget.ts';
import { RequestError, validationFailed } from '../http/answers/request-error.ts';
import { sendStream, sendWhole } from '../http/answers/send-paced.ts';
import { FORM_USER_HEADER, requireFormUser } from '../http/request/form-user.ts';
import { IDEMPOTENCY_KEY, idempotencyKeyOf } from '../http/idempotency/idempotency.ts';
import { hashOfSecret, isSameHash, newSecret } from '../http/callers/secret.ts';
import { userIdOf } from '../http/callers/caller-of.ts';
import * as headers from '../http/openapi/answer-headers.ts';
import type { Endpoint, Operation } from '../http/openapi/endpoint.ts';
import { example } from './example.ts';
import { assertNotGone, findErrors, findNamedPaste, namesPaste, pasteGone } from './find-named-paste.ts';
import { findStored, objectMissing } from './read-content.ts';
import type { RequestedDownload } from './send-download.ts';
import { readContent } from '../storage/stored-content.ts';

/** Shows that a repeated reveal is the same reader's. */
export interface ReaderKey {
  readonly text: string;
  readonly hash: Buffer;
  /** False: the key was made for this request, so that the reader learns it from the answer. */
  readonly isSent: boolean;
}

/** Whoever guesses the key of a reader gets the content for five minutes. */
const MIN_KEY_LENGTH = 16;

/** @throws RequestError malformed_request, validation_failed */
export function readerKeyOf(req: Request, sent: string | null = idempotencyKeyOf(req)): ReaderKey {
  if (sent !== null && sent.length < MIN_KEY_LENGTH) {
    const message = `must have at least ${MIN_KEY_LENGTH} characters that nobody can guess, e.g. a UUID: it gives access to the content`;
    throw validationFailed([{ path: 'Idempotency-Key', message }]);
  }
  const text = sent ?? newSecret();
  return { text, hash: hashOfSecret(text), isSent: sent !== null };
}

const path = namesPaste(example.burnCode);

/** The operation of revealPaste, at both of its paths. */
const revealOperation: Omit<Operation, 'operationId'> = {
  tag: 'pastes',
  access: 'anyone',
  hasOwnKey: true,
  summary: 'Reads a paste that is deleted when it is read: once, and never again.',
  description:
    'Of any number of readers one gets the content, byte for byte, and all others 410. The whole content is at hand before the paste is ' +
    'deleted. The reader is known by the Idempotency-Key: a request with the same key gets the content again for five minutes, so that a ' +
    'client can repeat it after a 503 or when the answer breaks off. A takedown ends that. A body and a request that a browser sends ' +
    'from another site are refused. Ranges are not supported.',
  params: {
    path,
    header: z.object({
      'Idempotency-Key': z
        .string()
        .regex(IDEMPOTENCY_KEY)
        .min(MIN_KEY_LENGTH)
        .optional()
        .meta({
          param: {
            description:
              'A key that nobody can guess, such as a UUID: it gives access to the content for five minutes. Without one, the answer has the key that was made for the request.',
          },
        }),
    }),
  },
  answers: {
    200: {
      description: 'The content, which no other reader gets.',
      headers: z.object({
        'Content-Length': headers.contentLength,
        'Idempotency-Key': headers.madeIdempotencyKey,
      }),
      content: { 'text/plain': {} }, // any bytes, which no schema can express
    },
    503: {
      description: 'The upload is in progress: an empty body. Retry after the given time.',
      headers: z.object({
        'Retry-After': headers.retryAfter,
        'Idempotency-Key': headers.madeIdempotencyKey,
      }),
    },
  },
  errors: [
    ...findErrors,
    'nothing_to_reveal',
    'user_changed',
    'cross_site_request',
    'validation_failed',
    'overloaded',
  ],
};

/**
 * POST /:short_code and POST /v1/pastes/:short_code/reveal: the content of a paste that is deleted when it is
 * read (ADR 47).
 */
export function revealPaste(api: ApiContext, operationId: string): Endpoint {
  return {
    operation: { ...revealOperation, operationId },
    handle: async (req, res) => {
      assertNoBody(req);
      requireFormUser(req, req.get(FORM_USER_HEADER)); // of the page, which has said who the owner will see
      const key = readerKeyOf(req);
      const paste = await findStored(api, req, res, assertBurns, async () =>
        asReaderFinds(await findNamedPaste(api, req), key),
      );
      if (paste === null) return;
      const head = (): ServerResponse =>
        res.writeHead(200, {
          'Content-Type': 'text/plain; charset=utf-8',
          'Content-Length': String(paste.size_bytes),
          'Cache-Control': `${String(res.getHeader('Cache-Control'))}, no-transform`,
        });
      await sendOnce(api, paste, { req, res, key, answer: () => ({ head }) });
    },
  };
}

/** Somebody who sends a body may mean to create a paste. @throws RequestError validation_failed */
function assertNoBody(req: Request): void {
  if (!hasBody(req)) return;
  const message = 'must be empty: this request reveals a paste. POST / creates one';
  throw validationFailed([{ path: '', message }]);
}

export function hasBody({ headers }: Request): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = headers;
  return Number(length) !== 0 || encoding !== undefined;
}

/** @throws RequestError nothing_to_reveal */
export function assertBurns({ burn }: Pick<PasteRow, 'burn'>): void {
  if (burn) return;
  throw new RequestError('nothing_to_reveal', 'This paste stays when it is read. Read it with GET.');
}

/** The reader who has claimed the paste finds it as before the claim. Postgres decides about a repetition. */
export function asReaderFinds(paste: PasteRow | null, key: ReaderKey): PasteRow | null {
  if (paste?.deletion_status !== 'DELETION_IN_PROGRESS' || paste.reader_key_hash === null) return paste;
  if (!isSameHash(paste.reader_key_hash, key.hash)) return paste;
  return { ...paste, burned_at: null, gone: false };
}

/** For readers of long contents, who can't continue in the middle. */
const PATIENCE = 4;

/** A client that reads 8 kB/s takes nothing from this process for up to three minutes. */
const IDLE_MS = 300_000;

/**
 * Sends the content of a PROCESSED paste to this reader, if no other reader has claimed it. The content is
 * whole in memory and has the hash of its paste before it is claimed.
 * @throws RequestError paste_gone or paste_taken_down for everybody else; overloaded, rate_limited and
 * DependencyUnavailableError: then the paste can still be read, or this reader can repeat the request
 */
export async function sendOnce(
  api: ApiContext,
  paste: PasteRow,
  {
    req,
    res,
    key,
    answer,
    isRendered = false,
  }: Pick<RequestedDownload, 'req' | 'res'> & {
    readonly key: ReaderKey;
    /** What is sent of the content. */
    readonly answer: (content: Buffer) => Pick<RequestedDownload, 'head' | 'render'>;
    /** What is made of the content takes more memory than the content. Default: false. */
    readonly isRendered?: boolean;
  },
): Promise<void> {
  const { size_bytes: size, files } = paste;
  const isShort = size <= MAX_WHOLE_BYTES;
  const download = api.downloads.hold(req, size, {
    weight: isRendered && isShort ? 1 + markupBytesOf(size, files?.length) : 1,
    reader: `${paste.id} ${key.hash.toString('hex')}`,
  });
  try {
    const requested = { paste, range: undefined, accepts: null };
    const content = await readContent(api.store, keepsNothing, requested, res);
    if (content === null) throw await objectMissing(api, req, paste);
    const { bytes } = content;
    const { head, render } = answer(bytes);
    const sent = render === undefined ? piecesOf(bytes) : render(piecesOf(bytes));
    const whole = isShort ? await buffer(Readable.from(sent)) : null; // what can fail, fails before the claim
    if (res.destroyed) return;
    if (!(await claim(api, paste, key, { req, res }))) throw await goneForOthers(api, req);
    api.events.pasteRevealed(req);
    if (whole === null) res.setTimeout(IDLE_MS);
    const started = head({ encoding: null, length: size });
    download.sending(() => res.destroy());
    const outcome =
      whole === null
        ? await sendStream(Readable.from(sent), started, { ...api.sending, patience: PATIENCE })
        : await sendWhole(whole, started, api.sending);
    if (outcome === 'too_slow') api.events.downloadTooSlow(req);
  } finally {
    download.release();
  }
}

/** The content must be in no memory after its one read. */
const keepsNothing = { get: () => undefined, add: () => {} };

const PIECE_BYTES = 65_536;

function* piecesOf(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += PIECE_BYTES)
    yield bytes.subarray(start, start + PIECE_BYTES);
}

/** Long enough for a restart of Postgres. Proxies and clients commonly give up after 30 s. */
const CLAIM_WITHIN_MS = 15_000;
const ASK_AGAIN_AFTER_MS = 250;

/**
 * Claims the paste for this reader. When Postgres goes away, the claim may have succeeded although its
 * answer was lost: the same key then finds it.
 * @throws DependencyUnavailableError
 */
async function claim(
  api: ApiContext,
  paste: PasteRow,
  { text, hash: readerKeyHash, isSent }: ReaderKey,
  { req, res }: Pick<RequestedDownload, 'req' | 'res'>,
): Promise<boolean> {
  const startedAt = performance.now();
  for (;;) {
    try {
      const isClaimed = await claimForReader(api.db, paste.id, {
        readerKeyHash,
        readerId: userIdOf(req),
        actor: api.actor,
      });
      if (isClaimed && !isSent) res.set('Idempotency-Key', text);
      return isClaimed;
    } catch (cause) {
      if (!(cause instanceof DependencyUnavailableError)) throw cause;
      const isOver = performance.now() - startedAt > CLAIM_WITHIN_MS || res.destroyed || isTimeout(cause);
      if (isOver && !isSent) res.set('Idempotency-Key', text);
      if (isOver) throw new DependencyUnavailableError('postgres', { cause, message: UNKNOWN_CLAIM });
    }
    await wait(ASK_AGAIN_AFTER_MS);
  }
}

const UNKNOWN_CLAIM =
  'postgres does not answer, so that it is unknown whether this request has claimed the paste. If it has, the paste is kept for you: ' +
  'reload the page within five minutes, or send the request again with the same Idempotency-Key, or with that of this answer.';

/** Why somebody else's claim came first. */
async function goneForOthers(api: ApiContext, req: Request): Promise<Error> {
  assertNotGone(await findNamedPaste(api, req));
  return pasteGone();
}
