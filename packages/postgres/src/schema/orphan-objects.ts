/** An object in the bucket that has no live row. `reconcile` records it, and a later run deletes it. */
export interface OrphanObjectsTable {
  key: string;
  /** As S3 gives it. An object that was written again since is another orphan, with a grace period of its own. */
  last_modified: Date;
  first_seen_at: Date;
  /** The start of the last run that found it. */
  last_seen_at: Date;
}
