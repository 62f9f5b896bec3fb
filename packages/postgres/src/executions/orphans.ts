import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import { foundBy, joinSubject, type Search, type SearchableSubject } from './search.ts';

/**
 * Removes, of the first `limit` executions of a search, those whose paste or job is gone. Only plain SQL can leave them: the row of a paste
 * or a job takes its executions along when it is deleted. An orphan can never end, and it would stay at the front of each search: 500 of
 * them, a batch of the relay or the reaper, would hold up the work of everybody.
 * @returns the ids of the removed executions
 */
export async function removeOrphans(
  db: Database,
  subject: SearchableSubject,
  search: Search,
  limit: number,
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    WITH ${foundBy(search, subject.kind, limit)},
    orphan AS (
      SELECT found.id FROM found ${joinSubject(subject)} WHERE subject.id IS NULL
    )
    DELETE FROM task_executions e USING orphan WHERE e.id = orphan.id RETURNING e.id`.execute(db);
  return rows.map(({ id }) => id);
}
