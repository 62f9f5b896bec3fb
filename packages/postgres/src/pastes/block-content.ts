import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import { takeDown, type TakedownBy } from './take-down.ts';

interface BlockResult {
  /** False: the content was blocked already. */
  readonly isNew: boolean;
  /** The codes of the pastes with the content that were created at the same time. They are taken down. */
  readonly takenDown: readonly string[];
}

/** A statement of a creation takes 30 s at most, and so does its transaction between two statements. */
const MAX_CREATION_SECONDS = 60;

const POLL_MS = 50;

/**
 * Blocks a content: from the commit on no paste with it is created, by the api or by an import. A creation that began before the commit does
 * not see the block. The block waits for such creations, and takes down the pastes that they have made. Pastes that existed before stay
 * (ADR 42).
 *
 * Killed between the commit and the end, the block is in force, and the paste of a creation at the same moment stays.
 * @throws Error when creations that began before the block do not end in time; the block is in force
 */
export async function blockContent(
  db: Database,
  contentHash: string,
  by: TakedownBy,
  { withinSeconds = MAX_CREATION_SECONDS }: { readonly withinSeconds?: number } = {},
): Promise<BlockResult> {
  const since = await idOfRecentPast(db);
  const existing = await findPastes(db, contentHash, since);
  if (!(await insertBlock(db, contentHash, by))) return { isNew: false, takenDown: [] };
  await untilCreationsEnd(db, withinSeconds);
  const all = await findPastes(db, contentHash, since);
  const { takenDown } = await takeDown(
    db,
    all.filter((code) => !existing.includes(code)),
    by,
  );
  return { isNew: true, takenDown: takenDown.map(({ shortCode }) => shortCode) };
}

async function insertBlock(
  db: Database,
  contentHash: string,
  { actor, class: why, reason }: TakedownBy,
): Promise<boolean> {
  const { rows } = await sql`
    INSERT INTO content_blocks (content_hash, class, reason, actor) VALUES (${contentHash}, ${why}, ${reason}, ${actor})
    ON CONFLICT (content_hash) WHERE unblocked_at IS NULL DO NOTHING RETURNING id`.execute(db);
  return rows.length === 1;
}

/** The smallest id that a creation which still runs can have given to a paste. An id begins with the milliseconds of its creation. */
async function idOfRecentPast(db: Database): Promise<string> {
  const { rows } = await sql<{ ms: string }>`
    SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint - ${MAX_CREATION_SECONDS * 1000} AS ms`.execute(
    db,
  );
  const hex = BigInt(rows[0]?.ms ?? 0)
    .toString(16)
    .padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** No index leads from a hash to its pastes. The primary key bounds the search to the pastes of the last minute. */
async function findPastes(db: Database, contentHash: string, since: string): Promise<readonly string[]> {
  const pastes = await db
    .selectFrom('pastes')
    .select('short_code')
    .where('id', '>=', since)
    .where('content_hash', '=', contentHash)
    .execute();
  return pastes.map(({ short_code: code }) => code);
}

/**
 * Waits for the creations that may not have seen the block. A statement locks its tables before it takes the snapshot that it reads, so that
 * each of these creations has a lock on both tables now, and keeps the locks until its transaction ends. A dump or another reader doesn't lock
 * `pastes` for writing. A creation whose lock is not granted yet has no snapshot yet, and will see the block.
 */
async function untilCreationsEnd(db: Database, withinSeconds: number): Promise<void> {
  const deadline = performance.now() + withinSeconds * 1000;
  let left = await findCreations(db);
  while (left.length > 0) {
    if (performance.now() > deadline)
      throw new Error(
        'The content is blocked, but creations that began before do not end. Their pastes with this content would stay: ' +
          'unblock the content, and block it again.',
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
