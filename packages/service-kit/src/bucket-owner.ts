import { BUCKET_OWNER_KEY, JOB_OBJECT_KEY_PREFIX, OBJECT_KEY_PREFIX } from '@pasteflow/domain';
import { readInstallation, type Database, findLiveObjects, recordBucketAdoption } from '@pasteflow/postgres';
import { ConfigError, PollLoop, sleep, type Component, type Logger } from '@pasteflow/runtime';
import type { ObjectStore } from '@pasteflow/s3';
import { commandName } from './command-name.ts';

/** The bucket belongs to another database, or may. An operator must decide: exit code 78. */
export class BucketOwnerError extends ConfigError {
  constructor(problem: string) {
    super([problem]);
    this.name = 'BucketOwnerError';
  }
}

export interface OwnerCheck {
  readonly db: Database;
  readonly store: Pick<ObjectStore, 'bucket' | 'readText' | 'writeText' | 'list'>;
  /** Who takes the bucket when it is empty and has no owner. */
  readonly actor: string;
}

interface OwnedBucket {
  /** The clocks at the time of the check. */
  readonly databaseTime: Date;
  /** null: the response of S3 had no Date. */
  readonly storeTime: Date | null;
}

/**
 * Compares the id of the database with the owner that the bucket names. A bucket without an owner and without
 * objects is taken. When two databases take it at once, S3 stores the owner of one; a store that ignores
 * If-None-Match stores both, and the one whose owner was replaced finds out at its next check.
 * @throws BucketOwnerError when the bucket names another owner, or holds objects and names none
 * @throws DependencyUnavailableError when Postgres or S3 doesn't answer, which says nothing about the owner
 */
export async function checkBucketOwner({ db, store, actor }: OwnerCheck): Promise<OwnedBucket> {
  const { id, now } = await readInstallation(db);
  let { text, serverTime } = await store.readText(BUCKET_OWNER_KEY);
  if (text === null) {
    if (await holdsObjects(store)) throw unowned(store.bucket, id);
    const owner = { installation_id: id, owned_since: now.toISOString(), written_by: actor };
    await store.writeText(BUCKET_OWNER_KEY, formatOwner(owner), { onlyIfAbsent: true });
    ({ text, serverTime } = await store.readText(BUCKET_OWNER_KEY));
  }
  const owner = text === null ? 'nobody' : ownerIdOf(text);
  if (owner !== id) throw ownedByAnother(store.bucket, { owner, id });
  return { databaseTime: now, storeTime: serverTime };
}

async function holdsObjects(store: Pick<ObjectStore, 'list'>): Promise<boolean> {
  for (const prefix of [OBJECT_KEY_PREFIX, JOB_OBJECT_KEY_PREFIX])
    for await (const page of store.list(prefix)) if (page.length > 0) return true;
  return false;
}

const ADVICE = `Correct S3_BUCKET or DATABASE_URL. If the bucket is meant to belong to this database from now on, run: ${commandName('ops')} adopt-bucket`;

function unowned(bucket: string, id: string): BucketOwnerError {
  return new BucketOwnerError(
    `S3_BUCKET is ${bucket}, which holds objects and names no owner. The database is ${id}. ${ADVICE}`,
  );
}

function ownedByAnother(bucket: string, { owner, id }: { owner: string; id: string }): BucketOwnerError {
  return new BucketOwnerError(
    `S3_BUCKET is ${bucket}, which belongs to the database ${owner}. The database at DATABASE_URL is ${id}. ${ADVICE}`,
  );
}

/** The object `pasteflow-owner`: JSON with the id of the database that the bucket belongs to. */
interface OwnerObject {
  readonly installation_id: string;
  /** When the bucket was given to this database. */
  readonly owned_since: string;
  /** The process, or the operator who adopted the bucket. */
  readonly written_by: string;
}

function formatOwner(owner: OwnerObject): string {
  return `${JSON.stringify(owner, null, 2)}\n`;
}

/** An owner that can't be read is another owner: the result is then a part of the text. */
function ownerIdOf(text: string): string {
  try {
    const { installation_id: id } = JSON.parse(text) as Partial<OwnerObject>;
    if (typeof id === 'string' && id !== '') return id;
  } catch {
    // not JSON
  }
  return `unreadable: ${JSON.stringify(text.slice(0, 60))}`;
}

type Store = Pick<ObjectStore, 'bucket' | 'readText' | 'writeText' | 'list'>;

export interface BucketContents {
  readonly bucket: string;
  /** The id of the database. */
  readonly installationId: string;
  /** The id that the bucket names; null: it names none. */
  readonly owner: string | null;
  /** Objects of pastes and jobs in the bucket. */
  readonly found: number;
  /** Those of them that have a live row in this database. */
  readonly known: number;
}

/** Reads the two ids, and counts the objects in the bucket that this database knows. */
export async function countBucket(db: Database, store: Store): Promise<BucketContents> {
  const { id: installationId } = await readInstallation(db);
  const { text } = await store.readText(BUCKET_OWNER_KEY);
  let [found, known] = [0, 0];
  for await (const page of store.list('')) {
    const keys = page.map(({ key }) => key).filter((key) => key !== BUCKET_OWNER_KEY);
    found += keys.length;
    known += (await findLiveObjects(db, keys)).size;
  }
  return {
    bucket: store.bucket,
    installationId,
    owner: text === null ? null : ownerIdOf(text),
    found,
    known,
  };
}

/**
 * Gives the bucket to this database, and records who did so. The record comes first: an adoption is never
 * without one.
 */
export async function adoptBucket(
  { db, store, adoptedBy }: { readonly db: Database; readonly store: Store; readonly adoptedBy: string },
  contents: BucketContents,
): Promise<void> {
  const { bucket, installationId, owner, found, known } = contents;
  await recordBucketAdoption(db, {
    bucket,
    previousOwner: owner,
    adoptedBy,
    objectsFound: found,
    objectsKnown: known,
  });
  await store.writeText(
    BUCKET_OWNER_KEY,
    formatOwner({
      installation_id: installationId,
      owned_since: new Date().toISOString(),
      written_by: adoptedBy,
    }),
    { onlyIfAbsent: false },
  );
}

/** A bucket that is exchanged while the service runs is found within this time. */
const RECHECK_MS = 300_000;

/** The start waits this long for the first check, so that a mismatch is an error of the start. */
const FIRST_CHECK_MS = 2000;

/** Checks at the start, and every 5 minutes, that the bucket belongs to the database. */
export class BucketOwnership implements Component {
  readonly name = 'bucket owner';
  readonly #loop: PollLoop;
  readonly #verified = Promise.withResolvers<void>();
  readonly #firstCheck = Promise.withResolvers<void>();
  #mismatch: BucketOwnerError | undefined;
  #isVerified = false;
  #isStarted = false;

  /**
   * @param onMismatch stops the service: called when a check after the start finds that the bucket belongs to another
   *   database
   */
  constructor(
    owner: OwnerCheck & { readonly logger: Logger },
    onMismatch: (error: BucketOwnerError) => void,
  ) {
    this.#loop = new PollLoop({
      name: this.name,
      intervalMs: RECHECK_MS,
      run: () => this.#check(owner, onMismatch),
      onError: (error, { failures, retryInMs }) => {
        if (!Number.isInteger(Math.log2(failures))) return;
        owner.logger.warn('bucket owner not checked', { failures, retry_in_ms: retryInMs, error });
      },
    });
  }

  /**
   * Resolves after the first check, or after 2 s without an answer: then nothing is verified yet.
   * @throws BucketOwnerError
   */
  async start(): Promise<void> {
    await this.#loop.start();
    const waiting = new AbortController();
    await Promise.race([this.#firstCheck.promise, sleep(FIRST_CHECK_MS, waiting.signal)]);
    waiting.abort();
    this.#isStarted = true;
    if (this.#mismatch !== undefined) throw this.#mismatch;
  }

  /** Resolves when a check has passed, and when the service stops. */
  async waitUntilVerified(): Promise<void> {
    await this.#verified.promise;
  }

  /** Ends the waits of `waitUntilVerified`. */
  release(): void {
    this.#verified.resolve();
  }

  /** The readiness check. */
  async requireVerified(): Promise<void> {
    if (!this.#isVerified) throw new Error('the owner of the bucket has not been verified yet');
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.release();
    await this.#loop.stop();
  }

  async #check(owner: OwnerCheck, onMismatch: (error: BucketOwnerError) => void): Promise<void> {
    try {
      await checkBucketOwner(owner);
      this.#isVerified = true;
      this.#verified.resolve();
    } catch (error) {
      if (!(error instanceof BucketOwnerError)) throw error;
      this.#isVerified = false;
      this.#mismatch = error;
      if (this.#isStarted) onMismatch(error);
    } finally {
      this.#firstCheck.resolve();
    }
  }
}
