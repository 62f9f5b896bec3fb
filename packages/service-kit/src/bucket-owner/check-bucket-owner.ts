import { BUCKET_OWNER_KEY, JOB_OBJECT_KEY_PREFIX, OBJECT_KEY_PREFIX } from '@pasteflow/domain';
import { readInstallation, type Database } from '@pasteflow/postgres';
import { ConfigError } from '@pasteflow/runtime';
import type { ObjectStore } from '@pasteflow/s3';
import { commandName } from '../command-name.ts';

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

export interface OwnedBucket {
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

export function formatOwner(owner: OwnerObject): string {
  return `${JSON.stringify(owner, null, 2)}\n`;
}

/** An owner that can't be read is another owner: the result is then a part of the text. */
export function ownerIdOf(text: string): string {
  try {
    const { installation_id: id } = JSON.parse(text) as Partial<OwnerObject>;
    if (typeof id === 'string' && id !== '') return id;
  } catch {
    // not JSON
  }
  return `unreadable: ${JSON.stringify(text.slice(0, 60))}`;
}
