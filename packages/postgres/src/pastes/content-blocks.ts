import { sql, type Selectable } from 'kysely';
import type { Actor } from '../database/actor.ts';
import type { Database } from '../database/database.ts';
import { prepared } from '../database/prepared.ts';
import type { ContentBlocksTable } from '../schema/pastes.ts';

/** Lifts the block of a content. @returns false when the content was not blocked */
export async function unblockContent(
  db: Database,
  contentHash: string,
  { actor, reason }: { readonly actor: Actor; readonly reason: string },
): Promise<boolean> {
  const { rows } = await sql`
    UPDATE content_blocks SET unblocked_at = now(), unblocked_by = ${actor}, unblock_reason = ${reason}
    WHERE content_hash = ${contentHash} AND unblocked_at IS NULL RETURNING id`.execute(db);
  return rows.length === 1;
}

/** Which of these content hashes are blocked. */
export async function findBlocked(
  db: Database,
  contentHashes: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ contentHash: string }>`${prepared}
    SELECT content_hash AS "contentHash" FROM content_blocks
    WHERE content_hash = ANY (${contentHashes}::text[]) AND unblocked_at IS NULL`.execute(db);
  return new Set(rows.map(({ contentHash }) => contentHash));
}

const blockColumns = ['content_hash', 'class', 'reason', 'actor', 'blocked_at'] as const;

export type ContentBlock = Pick<Selectable<ContentBlocksTable>, (typeof blockColumns)[number]>;

/** The blocks in force, newest first. */
export async function listContentBlocks(db: Database, limit: number): Promise<readonly ContentBlock[]> {
  return await db
    .selectFrom('content_blocks')
    .select(blockColumns)
    .where('unblocked_at', 'is', null)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}
