import type { Schema } from '../schema/schema.ts';

type Columns<Row> = 'all' | readonly (keyof Row & string)[];

/** `SELECT … FOR UPDATE` and `FOR SHARE` need the right to update at least one column. */
export interface TableRights<Row> {
  readonly select?: Columns<Row>;
  readonly insert?: Columns<Row>;
  readonly update?: readonly (keyof Row & string)[];
  readonly delete?: true;
}

/** A decision for every table: a table that is missing here does not compile. */
export type RoleRights = {
  readonly [Table in keyof Schema]: TableRights<Schema[Table]> | 'none';
};

/** The tables of the migrator, which no service uses. */
export const untypedTables = ['kysely_migration', 'kysely_migration_lock'] as const;
