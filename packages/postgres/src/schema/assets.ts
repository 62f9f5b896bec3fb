import type { ColumnType, Generated } from 'kysely';

export interface AssetsTable {
  id: Generated<string>;
  job_id: string;
  user_id: string;
  asset_type: string;
  /**
   * The URL of the content: `s3://bucket/key`. The URL that clients get is made from this one on each read.
   */
  url: string;
  /** The key in the bucket. */
  storage_path: string;
  /** Bytes. pg returns a bigint as text. */
  file_size: ColumnType<string, number, number>;
  /** The entry of the input that the asset was made from, from 0; NULL: not made from a single entry. */
  position: number | null;
  created_at: Generated<Date>;
}
