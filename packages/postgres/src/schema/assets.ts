import type { ColumnType, Generated } from 'kysely';

export interface AssetsTable {
  id: Generated<string>;
  job_id: string;
  user_id: string;
  asset_type: string;
  /** Where its content lies: `s3://bucket/key`. What clients see is made of it on each read. */
  url: string;
  /** The key in the bucket. */
  storage_path: string;
  /** Bytes. pg gives a bigint as text. */
  file_size: ColumnType<string, number, number>;
  /** Which entry of its job's input it was made of, from 0; NULL: of none in particular. */
  position: number | null;
  created_at: Generated<Date>;
}
