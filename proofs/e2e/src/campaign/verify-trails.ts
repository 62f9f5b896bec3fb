import { problemOfTrail, type TrailEntry } from '@pasteflow/protocol';
import type { Rows } from '../rows.ts';

interface Trail {
  readonly code: string;
  readonly status: string;
  readonly deletion: string;
  readonly entries: readonly TrailEntry[];
}

/** The transitions of each paste and of its executions are a trace of the model of the protocol. */
export async function findWrongTrails(rows: Rows): Promise<string[]> {
  const trails = await rows.query<Trail>(`
    WITH of_paste AS (
      SELECT p.id AS paste, p.id AS entity, NULL::json AS execution FROM pastes p
      UNION ALL
      SELECT e.subject_id, e.id, json_build_object('id', e.id, 'attempt', e.attempt, 'losses', e.losses)
      FROM task_executions e WHERE e.kind = 'upload'
    ), trail AS (
      SELECT paste, json_agg(json_build_object('machine', machine, 'from', "from", 'to', "to",
        'reason', reason, 'execution', execution) ORDER BY t.id) AS entries
      FROM of_paste JOIN state_transitions t USING (entity) GROUP BY paste
    )
    SELECT short_code AS code, status, deletion_status AS deletion, coalesce(entries, '[]') AS entries
    FROM pastes LEFT JOIN trail ON paste = id`);
  return trails.flatMap(({ code, entries, ...present }) => {
    const problem = problemOfTrail(entries, present);
    return problem === null ? [] : [`the trail of paste ${code} is no trace of the model: ${problem}`];
  });
}
