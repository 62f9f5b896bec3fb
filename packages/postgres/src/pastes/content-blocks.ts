import { setTimeout as wait } from 'node:timers/promises';
import { sql, type RawBuilder, type Selectable } from 'kysely';
import type { Database } from '../database/database.ts';
import type { Actor } from '../database/actor.ts';
import { prepared } from '../database/prepared.ts';
import type { ContentBlocksTable } from '../schema/pastes.ts';
import { takeDown, type TakedownBy } from './take-down.ts';

interface BlockResult {
  /** False: the content was blocked already. */
  readonly isNew: boolean;
  /** The codes of the pastes with the content that were created at the same time. They are taken down. */
  readonly takenDown: readonly string[];
}

interface Block {
  readonly isNew: boolean;
  /**
   * The ids of pastes that a creation can have made without seeing the block. An id begins with the
   * milliseconds of its creation.
   */
  readonly firstId: string;
  readonly lastId: string;
  readonly older: readonly string[];
}

/** A statement of a creation takes 30 s at most, and so does its transaction between two statements. */
const MAX_CREATION_SECONDS = 60;

const POLL_MS = 50;

/**
 * Blocks content by its hash: from the commit on no paste with it is created, by the api or by an import. A
 * creation that began before the commit does not see the block. The block waits for such creations, and takes
 * down the pastes that they have made. Pastes that existed before stay (ADR 42): the statement that inserts
 * the block also keeps their codes. A block that is repeated, because it was killed after its commit,
 * therefore does the rest.
 * @throws Error when creations that began before the block do not end in time; the block is in force
 */
export async function blockContent(
  db: Database,
  contentHash: string,
  by: TakedownBy,
  { withinSeconds = MAX_CREATION_SECONDS }: { readonly withinSeconds?: number } = {},
): Promise<BlockResult> {
  const block = await insertBlock(db, contentHash, by);
  await untilCreationsEnd(db, withinSeconds);
  const { takenDown } = await takeDown(db, await findRaced(db, contentHash, block), by);
  return { isNew: block.isNew, takenDown: takenDown.map(({ shortCode }) => shortCode) };
}

/**
 * Inserts the block, or finds the one in force: the row is written in each case, if only with its own
 * values, because RETURNING then has the latest version of the row. A row that was inserted has no xmax.
 */
async function insertBlock(
  db: Database,
  contentHash: string,
  { actor, class: why, reason }: TakedownBy,
): Promise<Block> {
  const { rows } = await sql<Block>`
    INSERT INTO content_blocks AS block (content_hash, class, reason, actor, older)
    SELECT ${contentHash}, ${why}, ${reason}, ${actor}, ARRAY(
      SELECT short_code FROM pastes WHERE id >= ${idAt(sql`now()`, -MAX_CREATION_SECONDS)} AND content_hash = ${contentHash})
    ON CONFLICT (content_hash) WHERE unblocked_at IS NULL DO UPDATE SET unblocked_at = block.unblocked_at
    RETURNING xmax = 0 AS "isNew", older, ${idAt(sql`blocked_at`, -MAX_CREATION_SECONDS)} AS "firstId",
      ${idAt(sql`blocked_at`, 2 * MAX_CREATION_SECONDS)} AS "lastId"`.execute(db);
  const [block] = rows;
  if (block === undefined) throw new Error('insertBlock: the statement returned no row');
  return block;
}

/** The smallest id of a paste that is created some seconds after a time. */
function idAt(time: RawBuilder<unknown>, seconds: number): RawBuilder<string> {
  return sql`rpad(lpad(to_hex((extract(epoch FROM ${time}) * 1000)::bigint + ${sql.lit(seconds * 1000)}), 12, '0'), 32, '0')::uuid`;
}

/**
 * No index leads from a hash to its pastes. The primary key bounds the search to the pastes of some minutes.
 */
async function findRaced(
  db: Database,
  contentHash: string,
  { firstId, lastId, older }: Block,
): Promise<readonly string[]> {
  const { rows } = await sql<{ shortCode: string }>`
    SELECT short_code AS "shortCode" FROM pastes
    WHERE id BETWEEN ${firstId} AND ${lastId} AND content_hash = ${contentHash} AND short_code <> ALL (${older}::text[])`.execute(
    db,
  );
  return rows.map(({ shortCode }) => shortCode);
}

/**
 * Waits for the creations that may not have seen the block. A statement locks its tables before it takes
 * the snapshot that it reads, so that each of these creations has a lock on both tables now, and keeps the
 * locks until its transaction ends. A dump or another reader doesn't lock `pastes` for writing. A creation
 * whose lock is not granted yet has no snapshot yet, and will see the block.
 */
async function untilCreationsEnd(db: Database, withinSeconds: number): Promise<void> {
  const deadline = performance.now() + withinSeconds * 1000;
  let left = await findCreations(db);
  while (left.length > 0) {
    if (performance.now() > deadline)
      throw new Error(
        'The content is blocked, but creations that began before do not end. Block it again, ' +
          'to take down the pastes with this content that they make.',
      );
    await wait(POLL_MS);
    const running = await findCreations(db);
    left = left.filter((creation) => running.includes(creation));
  }
}

/** The transactions that write pastes and read blocks. */
async function findCreations(db: Database): Promise<readonly string[]> {
  const { rows } = await sql<{ transaction: string }>`
    SELECT virtualtransaction AS transaction FROM pg_locks
    WHERE locktype = 'relation' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND (relation = 'content_blocks'::regclass OR relation = 'pastes'::regclass AND mode = 'RowExclusiveLock')
    GROUP BY virtualtransaction HAVING count(DISTINCT relation) = 2`.execute(db);
  return rows.map(({ transaction }) => transaction);
}

/** Lifts the block of content. @returns false when the content was not blocked */
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
