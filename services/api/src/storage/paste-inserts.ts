import { SpanKind } from '@opentelemetry/api';
import {
  ContentBlockedError,
  DependencyUnavailableError,
  ParentNotFoundError,
  QuotaExceededError,
  SLUG_MARK,
} from '@pasteflow/domain';
import {
  answerIdempotencyKeys,
  createPaste,
  createPastes,
  findQuotaRefusal,
  findRefusal,
  findSuperseder,
  isLockTimeout,
  isTimeout,
  mayBeOfOneRow,
  type CreatedPaste,
  type Database,
  type NewPaste,
  type PasteRefusal,
  type Quotas,
} from '@pasteflow/postgres';
import { Batcher, failSpan, runInSpan, tracer } from '@pasteflow/runtime';
import { canRead, MAX_SHORT_CODE_TRIES, type ShortCodes } from '@pasteflow/service-kit';
import type { LastWrite } from './last-write.ts';
import { invalidToken } from '../http/callers/authorization.ts';
import { RequestError } from '../http/answers/request-error.ts';
import type { Answer } from '../http/answers/answer.ts';
import { keyTaken, type KeyOfRequest } from '../http/idempotency/idempotency.ts';

export type PasteWithoutCode = Omit<NewPaste, 'shortCode'>;

/** A paste, the key of its request (null: none), and what the request is answered. */
interface Insert {
  readonly paste: NewPaste;
  readonly key: KeyOfRequest | null;
  readonly answerOf: (created: CreatedPaste) => Answer;
}

/** `answer` null: there is no key to store an answer with. */
interface Inserted {
  readonly created: CreatedPaste;
  readonly answer: Answer | null;
}

/** Copying a larger content costs more than a statement of its own, and would hold up the small ones. */
const MAX_GROUPED_BYTES = 64 * 1024;

const BATCH = {
  /** Batches of 50 are twice as fast as single statements, and larger ones hardly faster. */
  maxItems: 64,
  maxBytes: 1024 * 1024,
  /** They leave the other connections of the pool (10 by default) to other requests. */
  maxRunning: 4,
  /**
   * About as many as an api has connections (12,000 by default), and the work of some seconds.
   */
  maxWaiting: 10_000,
  /** As long as a request waits for a connection of the pool. */
  maxWaitMs: 5000,
};

/** A batch takes some milliseconds. */
const SLOW_MS = 250;

const SPAN = { kind: SpanKind.CLIENT, attributes: { 'db.system.name': 'postgresql' } };

/**
 * Inserts pastes under new short codes, in groups when many arrive at once. Each insert throws
 * RequestError short_code_taken, slug_taken or slug_limit_reached, ContentBlockedError, ParentNotFoundError
 * or QuotaExceededError; nothing was inserted then.
 */
export class PasteInserts {
  readonly #options;
  readonly #groups: Batcher<Insert, Inserted | null>;

  /**
   * @param options.maxSlugs how many pastes of a user may have a slug; null: any number
   * @param options.quotas null: there are none
   * @param options.slowMs see BatcherOptions; default: SLOW_MS
   */
  constructor(options: {
    readonly db: Database;
    readonly newShortCode: ShortCodes;
    readonly maxSlugs: number | null;
    readonly quotas: Quotas | null;
    readonly lastWrite?: Pick<LastWrite, 'succeeded' | 'failed'> | undefined;
    readonly slowMs?: number | undefined;
  }) {
    this.#options = options;
    this.#groups = new Batcher({
      ...BATCH,
      run: (inserts) => insertAll(options.db, inserts, options),
      bytesOf: ({ paste }) => paste.content.length,
      canRunAlone,
      slowMs: options.slowMs ?? SLOW_MS,
      refusal: () => new DependencyUnavailableError('postgres'),
    });
  }

  /**
   * Inserts a paste. With a key, the answer to its request is stored together with it, so that a process
   * which is killed leaves either both or neither. In a group, a paste that fits is left out when refused ones
   * come before it, whose bytes the statement counts. So a paste runs in one group, which is no try of a code,
   * and then alone.
   * @param answerOf builds the answer, and does nothing else
   * @throws RequestError idempotency_key_in_use when another request has taken the key
   */
  async insert(
    paste: PasteWithoutCode,
    key: KeyOfRequest | null,
    answerOf: Insert['answerOf'],
  ): Promise<{ readonly created: CreatedPaste; readonly answer: Answer }> {
    const { db, newShortCode } = this.#options;
    // Newer versions of the same pastes, in two groups in another order, could wait for each other.
    const isGrouped = paste.content.length <= MAX_GROUPED_BYTES && paste.supersedes === undefined;
    const first = isGrouped ? 0 : 1;
    for (let tries = first; tries <= MAX_SHORT_CODE_TRIES; tries += 1) {
      const insert = { paste: { ...paste, shortCode: newShortCode() }, key, answerOf };
      const inserted = await this.#write(insert, tries === 0);
      if (inserted !== null) {
        // Here an error of `answerOf` can't make its group run again, whose pastes may be committed.
        const { created, answer } = inserted;
        return { created, answer: answer ?? answerOf(created) };
      }
      await this.#refuse(db, paste);
    }
    throw noFreeCode();
  }

  /** Inserts a paste in a transaction of the caller, and therefore in no group. */
  async insertWithin(tx: Database, paste: PasteWithoutCode): Promise<CreatedPaste> {
    const { newShortCode } = this.#options;
    for (let tries = 1; tries <= MAX_SHORT_CODE_TRIES; tries += 1) {
      const created = await createPaste(tx, { ...paste, shortCode: newShortCode() }, this.#options);
      if (created !== null) return created;
      await this.#refuse(tx, paste);
    }
    throw noFreeCode();
  }

  /** Refuses the pastes that wait for their group. */
  stop(): void {
    this.#groups.refuseAll();
  }

  /** Inserts a paste in a group or alone. @returns null: it was left out */
  async #write(insert: Insert, inGroup: boolean): Promise<Inserted | null> {
    const { db, lastWrite } = this.#options;
    const span = tracer.startSpan('INSERT pastes', SPAN);
    try {
      const [inserted = null] = inGroup
        ? [await this.#groups.call(insert)]
        : await runInSpan(span, () => insertAll(db, [insert], this.#options));
      lastWrite?.succeeded();
      return inserted;
    } catch (error) {
      failSpan(span, error);
      lastWrite?.failed(error);
      throw error;
    } finally {
      span.end();
    }
  }

  /**
   * Throws why a paste was left out; nothing: another code may succeed. Asks only after the group has ended,
   * because a question that fails or takes long must not disturb the others.
   */
  async #refuse(db: Database, paste: PasteWithoutCode): Promise<void> {
    const { maxSlugs, quotas } = this.#options;
    const refusal = await findRefusal(db, paste, { maxSlugs });
    if (refusal === 'superseded') return await refuseSuperseded(db, paste);
    if (refusal !== null) throw errorOf(refusal, paste, maxSlugs);
    const sizes = { userId: paste.userId, sizeBytes: paste.content.length };
    const usedUp = quotas === null ? null : await findQuotaRefusal(db, sizes, quotas);
    if (usedUp !== null) throw new QuotaExceededError(usedUp);
  }
}

function noFreeCode(): RequestError {
  return new RequestError('short_code_taken', 'No free short code was found. Try again shortly.');
}

/**
 * After these errors nothing is committed: Postgres has refused a row or can't read or write it, or a row
 * is locked, or a key was taken. When Postgres is unavailable, it may have committed without an answer, and a
 * second insert would make a second paste.
 */
function canRunAlone(error: unknown): boolean {
  if (isTimeout(error)) return isLockTimeout(error);
  return mayBeOfOneRow(error) || !(error instanceof DependencyUnavailableError);
}

/**
 * Inserts pastes with one statement, which needs a transaction only for the answers of those with a key. The
 * answers come last: their keys stay locked until the commit, and requests with the same key wait for it.
 */
async function insertAll(
  db: Database,
  inserts: readonly Insert[],
  limits: Parameters<typeof createPastes>[2],
): Promise<readonly (Inserted | null)[]> {
  if (inserts.every(({ key }) => key === null)) return await insertIn(db, inserts, limits);
  return await db.transaction().execute((tx) => insertIn(tx, inserts, limits));
}

async function insertIn(
  db: Database,
  inserts: readonly Insert[],
  limits: Parameters<typeof createPastes>[2],
): Promise<readonly (Inserted | null)[]> {
  const pastes = inserts.map(({ paste }) => paste);
  const rows = await createPastes(db, pastes, limits);
  const inserted = inserts.map(({ key, answerOf }, n) => {
    const created = rows[n] ?? null;
    return created && { created, answer: key && answerOf(created) };
  });
  const answers = inserts.flatMap(({ key }, n) => {
    const answer = inserted[n]?.answer ?? null;
    return key === null || answer === null ? [] : [{ ...key.held, answer: key.seal(answer) }];
  });
  if ((await answerIdempotencyKeys(db, answers)) < answers.length) throw keyTaken();
  return inserted;
}

/** For the owner, who can read the paste. */
export function pasteNotEdited(): RequestError {
  return new RequestError(
    'paste_held',
    'Many readers have reported this paste. It has no newer version until an operator of this service has looked at it.',
  );
}

/**
 * Throws which paste is the newer version, unless the caller can't read that one; nothing: it has just ended, and left
 * its place.
 * @throws RequestError superseded
 */
async function refuseSuperseded(
  db: Database,
  { supersedes, contentHash, userId }: PasteWithoutCode,
): Promise<void> {
  const newer = await findSuperseder(db, supersedes ?? '');
  if (newer === null) return;
  if (!canRead({ visibility: newer.visibility, user_id: newer.userId }, userId))
    throw new RequestError('superseded', `The paste ${supersedes} was superseded by a private one.`);
  const { shortCode } = newer;
  const isSame = newer.contentHash === contentHash && newer.userId === userId;
  const why = newer.isGone
    ? `Its newer version ${shortCode} has expired, and is deleted within a minute or two. Then send this one again.`
    : isSame
      ? `Its newer version ${shortCode} has the content that you have sent: an earlier request has created it.`
      : `${shortCode} is its newer version. Look at ${shortCode}, and supersede that one.`;
  throw new RequestError('superseded', `The paste ${supersedes} was superseded. ${why}`, { shortCode });
}

function errorOf(
  refusal: Exclude<PasteRefusal, 'superseded'>,
  { slug, supersedes }: PasteWithoutCode,
  maxSlugs: number | null,
): RequestError | ContentBlockedError | ParentNotFoundError {
  switch (refusal) {
    case 'user_erased':
      return invalidToken();
    case 'content_blocked':
      return new ContentBlockedError();
    case 'parent_not_found':
      return new ParentNotFoundError(typeof supersedes === 'string' ? 'supersedes' : 'parent');
    case 'paste_held':
      return pasteNotEdited();
    case 'slug_taken':
      return new RequestError(
        refusal,
        `Another paste has the address ${SLUG_MARK}${slug}. Choose another slug.`,
        { errors: [{ path: 'slug', message: 'is taken by another paste; choose another one' }] },
      );
    case 'slug_limit_reached': {
      const pastes = `${maxSlugs} pastes with a slug, which is the limit`;
      return new RequestError(
        refusal,
        `You have ${pastes}. Create this paste without a slug. A deleted paste counts until its slug is free.`,
        { errors: [{ path: 'slug', message: `must be empty: you have ${pastes}` }] },
      );
    }
    default:
      return refusal satisfies never;
  }
}
