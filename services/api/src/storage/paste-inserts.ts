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
  isLockTimeout,
  isTimeout,
  mayBeOfOneRow,
  type CreatedPaste,
  type Database,
  type NewPaste,
  type PasteRefusal,
  type Quotas,
} from '@pasteflow/postgres';
import { Batcher, withSpan } from '@pasteflow/runtime';
import { MAX_SHORT_CODE_TRIES, type ShortCodes } from '@pasteflow/service-kit';
import type { LastWrite } from './last-write.ts';
import { invalidToken } from '../http/callers/authorization.ts';
import { RequestError } from '../http/answers/request-error.ts';
import type { Answer } from '../http/answers/answer.ts';
import { keyTaken, type KeyOfRequest } from '../http/idempotency/idempotency.ts';

export interface PasteInsertsOptions {
  readonly db: Database;
  readonly newShortCode: ShortCodes;
  /** How many pastes of a user may have a slug; null: any number. */
  readonly maxSlugs: number | null;
  /** null: there are none. */
  readonly quotas: Quotas | null;
  readonly lastWrite?: Pick<LastWrite, 'watch'> | undefined;
  /** See BatcherOptions. Default: SLOW_MS. */
  readonly slowMs?: number | undefined;
}

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

/** null: nothing was inserted. */
type Insertion<Inserted> = (coded: NewPaste) => Promise<Inserted | null>;

/** Copying a larger content costs more than a statement of its own, and would hold up the small ones. */
const MAX_GROUPED_BYTES = 64 * 1024;

const BATCH = {
  /** Batches of 50 are twice as fast as single statements, and larger ones hardly faster. */
  maxItems: 64,
  maxBytes: 1024 * 1024,
  /** They leave the other connections of the pool (10 by default) to other requests. */
  maxRunning: 4,
  /**
   * About as many as an api has connections (MAX_CONNECTIONS is 12,000 by default), and the work of some
   * seconds.
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
  readonly #options: PasteInsertsOptions;
  readonly #grouped: Batcher<Insert, Inserted | null>;

  constructor(options: PasteInsertsOptions) {
    this.#options = options;
    this.#grouped = new Batcher({
      ...BATCH,
      run: (inserts) => insertAll(inserts, options),
      bytesOf: ({ paste }) => paste.content.length,
      canRunAlone,
      slowMs: options.slowMs ?? SLOW_MS,
      refusal: () => new DependencyUnavailableError('postgres'),
    });
  }

  /**
   * Inserts a paste. With a key, the answer to its request is stored together with it, so that a process
   * which is killed leaves either both or neither.
   * @param answerOf builds the answer, and does nothing else
   * @throws RequestError idempotency_key_in_use when another request has taken the key
   */
  async insert(
    paste: PasteWithoutCode,
    key: KeyOfRequest | null,
    answerOf: Insert['answerOf'],
  ): Promise<{ readonly created: CreatedPaste; readonly answer: Answer }> {
    const { lastWrite } = this.#options;
    const write = (insert: () => Promise<Inserted | null>) => {
      const traced = () => withSpan('INSERT pastes', SPAN, insert);
      return lastWrite === undefined ? traced() : lastWrite.watch(traced);
    };
    const grouped = (coded: NewPaste) => write(() => this.#grouped.call({ paste: coded, key, answerOf }));
    const alone = (coded: NewPaste) =>
      write(async () => {
        const [inserted = null] = await insertAll([{ paste: coded, key, answerOf }], this.#options);
        return inserted;
      });
    const { created, answer } = await this.#underFreeCode(this.#options.db, paste, {
      grouped: paste.content.length <= MAX_GROUPED_BYTES ? grouped : null,
      alone,
    });
    // After its group: an error here must not make the group run again, because its pastes may be committed.
    return { created, answer: answer ?? answerOf(created) };
  }

  /** Inserts a paste in a transaction of the caller, and therefore in no group. */
  async insertWithin(tx: Database, paste: PasteWithoutCode): Promise<CreatedPaste> {
    const alone = (coded: NewPaste) => createPaste(tx, coded, this.#options);
    return await this.#underFreeCode(tx, paste, { grouped: null, alone });
  }

  /** Refuses the pastes that wait for their group. */
  stop(): void {
    this.#grouped.refuseAll();
  }

  /**
   * Asks why nothing was inserted only after the group has ended, because a question that fails or takes
   * long must not disturb the others. In a group, a paste that fits is left out when refused ones come before
   * it, whose bytes the statement counts. So it runs in one group, which is no try of a code, and then alone.
   */
  async #underFreeCode<Inserted>(
    db: Database,
    paste: PasteWithoutCode,
    {
      grouped,
      alone,
    }: {
      readonly grouped: Insertion<Inserted> | null;
      readonly alone: Insertion<Inserted>;
    },
  ): Promise<Inserted> {
    const { newShortCode, maxSlugs, quotas } = this.#options;
    for (let tries = grouped === null ? 1 : 0; tries <= MAX_SHORT_CODE_TRIES; tries += 1) {
      const insert = tries === 0 && grouped !== null ? grouped : alone;
      const inserted = await insert({ ...paste, shortCode: newShortCode() });
      if (inserted !== null) return inserted;
      const refusal = await findRefusal(db, paste, { maxSlugs });
      if (refusal !== null) throw errorOf(refusal, paste, maxSlugs);
      const sizes = { userId: paste.userId, sizeBytes: paste.content.length };
      const usedUp = quotas === null ? null : await findQuotaRefusal(db, sizes, quotas);
      if (usedUp !== null) throw new QuotaExceededError(usedUp);
    }
    throw new RequestError('short_code_taken', 'No free short code was found. Try again shortly.');
  }
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
  inserts: readonly Insert[],
  { db, maxSlugs, quotas }: PasteInsertsOptions,
): Promise<readonly (Inserted | null)[]> {
  const insertIn = async (tx: Database): Promise<readonly (Inserted | null)[]> => {
    const pastes = inserts.map(({ paste }) => paste);
    const rows = await createPastes(tx, pastes, { maxSlugs, quotas });
    const inserted = inserts.map(({ key, answerOf }, n) => {
      const created = rows[n] ?? null;
      return created && { created, answer: key && answerOf(created) };
    });
    const answers = inserts.flatMap(({ key }, n) => {
      const answer = inserted[n]?.answer ?? null;
      return key === null || answer === null ? [] : [{ ...key.held, answer: key.seal(answer) }];
    });
    if ((await answerIdempotencyKeys(tx, answers)) < answers.length) throw keyTaken();
    return inserted;
  };
  const hasKeys = inserts.some(({ key }) => key !== null);
  return hasKeys ? await db.transaction().execute(insertIn) : await insertIn(db);
}

function errorOf(
  refusal: PasteRefusal,
  { slug }: PasteWithoutCode,
  maxSlugs: number | null,
): RequestError | ContentBlockedError | ParentNotFoundError {
  switch (refusal) {
    case 'user_erased':
      return invalidToken();
    case 'content_blocked':
      return new ContentBlockedError();
    case 'parent_not_found':
      return new ParentNotFoundError();
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
