import { sql } from 'kysely';
import type { Database } from '../database/database.ts';

export interface Installation {
  /** The identity of the database. A dump and a restore keep it. */
  readonly id: string;
  readonly createdAt: Date;
  /** The current time by the clock of the database. */
  readonly now: Date;
}

/** @throws DependencyUnavailableError when Postgres doesn't answer */
export async function readInstallation(db: Database): Promise<Installation> {
  const { rows } = await sql<Installation>`
    SELECT id, created_at AS "createdAt", now() FROM installation`.execute(db);
  const [row] = rows;
  if (row === undefined)
    throw new Error('The table installation is empty. Migrate a new database, or restore the row.');
  return row;
}

export interface BucketAdoption {
  readonly bucket: string;
  readonly previousOwner: string | null;
  readonly adoptedBy: string;
  readonly objectsFound: number;
  readonly objectsKnown: number;
}

/** Records that an operator gave the bucket to this database. */
export async function recordBucketAdoption(db: Database, adoption: BucketAdoption): Promise<void> {
  const { bucket, previousOwner, adoptedBy, objectsFound, objectsKnown } = adoption;
  await sql`
    INSERT INTO bucket_adoptions (bucket, previous_owner, adopted_by, objects_found, objects_known)
    VALUES (${bucket}, ${previousOwner}, ${adoptedBy}, ${objectsFound}, ${objectsKnown})`.execute(db);
}
