import { sql, type Kysely } from 'kysely';

/**
 * `content_blocks.older` has the codes of the pastes that had the content before the block, so that a block that is repeated after a kill
 * takes down none of them.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE content_blocks ADD COLUMN older text[] COLLATE "C" NOT NULL DEFAULT '{}'`.execute(db);
}
