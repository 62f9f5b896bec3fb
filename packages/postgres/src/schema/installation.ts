import type { Generated } from 'kysely';

/** One row: the identity of this database. The bucket repeats the id in its object `pasteflow-owner`. */
export interface InstallationTable {
  one: Generated<true>;
  id: Generated<string>;
  /** When the database was migrated for the first time, or to the version that introduced this table. */
  created_at: Generated<Date>;
}

/** A row for each time that an operator gave a bucket to this database. */
export interface BucketAdoptionsTable {
  at: Generated<Date>;
  bucket: string;
  /** The owner that the bucket named before; NULL: it named none. */
  previous_owner: string | null;
  adopted_by: string;
  objects_found: string;
  objects_known: string;
}
