import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../database/database.ts';
import { inHalves, type Portion } from '../database/one-row.ts';
import { prepared } from '../database/prepared.ts';
import { anyOf, opaqueState } from '../database/planner.ts';
import type { ExecutionKind } from '../schema/executions.ts';
import {
  foundBy,
  joinSubject,
  overdue,
  undispatched,
  withoutOrphans,
  type Found,
  type Search,
  type SearchableSubject,
} from './search.ts';

/** What the search for messages to send needs to know about uploads or jobs. */
export interface DispatchableSubject<Message> extends SearchableSubject {
  /**
   * The columns of `Message` besides `executionId`, from `subject` (the paste or the job) and the tables of
   * `messageJoin`.
   */
  readonly messageColumns: RawBuilder<Omit<Message, 'executionId'>>;
  readonly messageJoin: RawBuilder<unknown>;
}

/**
 * Stamps executions as dispatched, after SQS has accepted their messages. An execution that is already
 * claimed has its stamp from the claim. One that can't be stamped is left to the relay.
 */
export async function stampDispatched(
  db: Database,
  executionIds: readonly string[],
  onRefused: (executionId: string, error: unknown) => void = () => {},
): Promise<void> {
  await inHalves(executionIds, (part) => stamp(db, part, sql`FOR UPDATE`), onRefused);
}

/**
 * `stampDispatched` without a wait for locks, for the stamps of many requests together: waiting for one row,
 * they would keep the claims of all others waiting. An execution that is locked is being claimed, which
 * stamps it, or is left to the relay.
 */
export async function stampUnlocked(db: Database, executionIds: readonly string[]): Promise<void> {
  await inHalves(
    executionIds,
    (part) => stamp(db, part, sql`FOR UPDATE SKIP LOCKED`),
    () => {},
  );
}

async function stamp(
  db: Database,
  executionIds: readonly string[],
  lock: RawBuilder<unknown>,
): Promise<void> {
  await sql`${prepared}
    WITH sent AS MATERIALIZED (
      SELECT id FROM task_executions e
      WHERE id = ${anyOf(executionIds, 'uuid')} AND ${opaqueState('e')} = 'PENDING' ORDER BY id ${lock}
    )
    UPDATE task_executions e SET dispatched_at = now() FROM sent WHERE e.id = sent.id`.execute(db);
}

/**
 * Up to `limit` executions for which no message was ever sent (see `undispatched`), the longest due first.
 */
export function findUndispatched<Message extends object>(
  db: Database,
  subject: DispatchableSubject<Message>,
  { graceSeconds, ...portion }: { graceSeconds: number } & Portion,
): Promise<Found<Message>> {
  return findMessages(db, subject, undispatched(graceSeconds), portion);
}

/** Up to `limit` executions whose message may be lost (see `overdue`). The longest sent come first. */
export function findOverdue<Message extends object>(
  db: Database,
  subject: DispatchableSubject<Message>,
  { olderThanSeconds, ...portion }: { olderThanSeconds: number } & Portion,
): Promise<Found<Message>> {
  return findMessages(db, subject, overdue(subject.kind, olderThanSeconds), portion);
}

async function findMessages<Message extends object>(
  db: Database,
  subject: DispatchableSubject<Message>,
  search: Search,
  portion: Portion,
): Promise<Found<Message>> {
  const { rows } = await sql<Message & { orphaned: boolean }>`
    WITH ${foundBy(search, subject.kind, portion)}
    SELECT found.id AS "executionId", ${subject.messageColumns}, subject.id IS NULL AS orphaned
    FROM found ${joinSubject(subject)} ${subject.messageJoin}
    ORDER BY found.dispatched_at NULLS FIRST, found.run_at`.execute(db);
  return withoutOrphans(rows);
}

/**
 * The number of executions that wait for a worker: due, dispatched, and not claimed. A message should wait
 * in the queue for each of them. The count stops at `limit`, and so does its cost.
 */
export async function countWaiting(
  db: Database,
  { kind }: { readonly kind: ExecutionKind },
  { limit }: { limit: number },
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::integer AS count FROM (
      SELECT FROM task_executions
      WHERE status = 'PENDING' AND kind = ${sql.lit(kind)} AND dispatched_at IS NOT NULL AND run_at <= now() LIMIT ${limit}
    ) AS waiting`.execute(db);
  return rows[0]?.count ?? 0;
}
