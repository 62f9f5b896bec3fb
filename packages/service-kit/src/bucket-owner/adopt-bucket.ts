import { BUCKET_OWNER_KEY } from '@pasteflow/domain';
import { findLiveObjects, readInstallation, recordBucketAdoption, type Database } from '@pasteflow/postgres';
import type { ObjectStore } from '@pasteflow/s3';
import { formatOwner, ownerIdOf } from './check-bucket-owner.ts';

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
