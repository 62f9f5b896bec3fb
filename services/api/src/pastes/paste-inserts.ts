import { SpanKind } from '@opentelemetry/api';
import { DependencyUnavailableError, ParentNotFoundError } from '@pasteflow/domain';
import {
  answerIdempotencyKey,
  answerIdempotencyKeys,
  createPaste,
  createPastes,
  findSlugRefusal,
  hasReadableParent,
  isLockTimeout,
  isSystemError,
  type CreatedPaste,
  type Database,
  type NewPaste,
  type SlugLimit,
} from '@pasteflow/postgres';
import { Groups, withSpan } from '@pasteflow/runtime';
import type { Answer } from '../http/response/answer.ts';
import { slugRefused } from './slug-refused.ts';
import { keyTaken, type KeyOfRequest } from '../idempotency/idempotency.ts';

export interface PasteInsert {
  readonly paste: NewPaste;
  /** Null: the request has no Idempotency-Key. */
  readonly key: KeyOfRequest | null;
  /** Builds the answer, which is stored with the key. Does nothing else. */
  readonly answerTo: (created: CreatedPaste) => Answer;
}

export interface InsertedPaste {
  readonly executionId: string;
  readonly answer: Answer;
}

/** Null: the short code or the slug is taken, the user has no slug left, or the creator can't read the parent. */
type Inserted = InsertedPaste | null;

type KeyedInsert = PasteInsert & { readonly key: KeyOfRequest };

/** Copying a larger content costs more than a statement of its own, and would hold up the small ones. */
const MAX_GROUPED_BYTES = 64 * 1024;

const SPAN = { kind: SpanKind.CLIENT, attributes: { 'db.system.name': 'postgresql' } };

/**
 * Inserts pastes, in groups when many arrive at once (ADR 38). Pastes with an Idempotency-Key have groups of their own: their answers are
 * stored in the same transaction, so that a process which is killed leaves either both or neither.
 */
export class PasteInserts {
  readonly #unkeyed: Groups<PasteInsert, Inserted>;
  readonly #keyed: Groups<KeyedInsert, Inserted>;
  readonly #db: Database;
  readonly #limit: Required<SlugLimit>;

  /** @param slowMs see GroupsOptions */
  constructor(
    db: Database,
    { slowMs, maxSlugs = null }: SlugLimit & { readonly slowMs?: number | undefined } = {},
  ) {
    this.#db = db;
    this.#limit = { maxSlugs };
    const options = {
      bytesOf,
      canRunAlone,
      slowMs,
      refusal: () => new DependencyUnavailableError('postgres'),
    };
    this.#unkeyed = new Groups<PasteInsert, Inserted>({
      run: (inserts) => insertPastes(db, inserts, this.#limit),
      ...options,
    });
    this.#keyed = new Groups<KeyedInsert, Inserted>({
      run: (inserts) => insertKeyed(db, inserts, this.#limit),
      ...options,
    });
  }

  /**
   * @returns null when another short code should be tried
   * @throws RequestError slug_taken or slug_limit_reached; idempotency_key_in_use when another request has taken the key; nothing was inserted
   * @throws ParentNotFoundError
   */
  async insert(insert: PasteInsert): Promise<Inserted> {
    const inserted = await withSpan('INSERT pastes', SPAN, () => this.#insert(insert));
    if (inserted === null) await this.#assertOtherCodeHelps(insert.paste);
    return inserted;
  }

  /**
   * Nothing was inserted: another short code helps only when neither the slug nor the parent is the reason. Asks after the group has ended,
   * because a question that fails or takes long must not disturb the others.
   */
  async #assertOtherCodeHelps({ slug = null, parent = null, userId }: NewPaste): Promise<void> {
    const { maxSlugs } = this.#limit;
    if (slug !== null && userId !== null) {
      const refusal = await findSlugRefusal(this.#db, { slug, userId }, maxSlugs);
      if (refusal !== null) throw slugRefused(refusal, slug, maxSlugs);
    }
    if (parent !== null && !(await hasReadableParent(this.#db, { parent, userId })))
      throw new ParentNotFoundError();
  }

  #insert({ key, ...insert }: PasteInsert): Promise<Inserted> {
    const isLarge = insert.paste.content.length > MAX_GROUPED_BYTES;
    if (key === null) {
      const unkeyed = { ...insert, key };
      return isLarge ? firstOf(insertPastes(this.#db, [unkeyed], this.#limit)) : this.#unkeyed.call(unkeyed);
    }
    const keyed = { ...insert, key };
    return isLarge ? firstOf(insertKeyed(this.#db, [keyed], this.#limit)) : this.#keyed.call(keyed);
  }

  /** Refuses the pastes that wait for their group. */
  stop(): void {
    this.#unkeyed.stop();
    this.#keyed.stop();
  }
}

function bytesOf({ paste }: PasteInsert): number {
  return paste.content.length;
}

/**
 * After these errors nothing is committed: Postgres has refused a row or can't read or write it, or a row is locked, or a key was taken.
 * When Postgres is unavailable, it may have committed without an answer, and a second insert would make a second paste.
 */
function canRunAlone(error: unknown): boolean {
  return !(error instanceof DependencyUnavailableError) || isLockTimeout(error) || isSystemError(error);
}

async function insertPastes(
  db: Database,
  inserts: readonly PasteInsert[],
  limit: SlugLimit,
): Promise<Inserted[]> {
  const pastes = inserts.map(({ paste }) => paste);
  const [first] = pastes;
  const created =
    pastes.length === 1 && first !== undefined
      ? [await createPaste(db, first, limit)]
      : await createPastes(db, pastes, limit);
  return inserts.map(({ answerTo }, n) => {
    const paste = created[n] ?? null;
    return paste && { executionId: paste.executionId, answer: answerTo(paste) };
  });
}

/** The answers come last in the transaction: their keys stay locked until the commit, and requests with the same key wait for it. */
async function insertKeyed(
  db: Database,
  inserts: readonly KeyedInsert[],
  limit: SlugLimit,
): Promise<Inserted[]> {
  return await db.transaction().execute(async (tx) => {
    const inserted = await insertPastes(tx, inserts, limit);
    const answers = inserts.flatMap(({ key }, n) => {
      const { answer } = inserted[n] ?? {};
      return answer === undefined ? [] : [{ ...key.held, answer: key.seal(answer) }];
    });
    const [first] = answers;
    const kept =
      answers.length === 1 && first !== undefined
        ? Number(await answerIdempotencyKey(tx, first, first.answer))
        : await answerIdempotencyKeys(tx, answers);
    if (kept < answers.length) throw keyTaken();
    return inserted;
  });
}

async function firstOf<T>(results: Promise<readonly T[]>): Promise<T> {
  const [first] = await results;
  return first as T;
}
