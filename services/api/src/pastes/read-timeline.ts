import type { Request, Response } from 'express';
import { readTimeline as findTimeline, type Database, type Timeline } from '@pasteflow/postgres';
import { assertNotGone, findNamedPaste, pasteNotFound } from './find-named-paste.ts';

/**
 * GET /v1/pastes/:short_code/timeline: what happened to the paste and to its upload's executions, oldest
 * first.
 */
export function readTimeline({ db }: { db: Database }) {
  return async (req: Request, res: Response): Promise<void> => {
    const paste = await findNamedPaste(db, req);
    if (paste === null) throw pasteNotFound();
    assertNotGone(paste);
    res.json(viewOfTimeline(await findTimeline(db, paste.id)));
  };
}

function viewOfTimeline({ transitions, executions }: Timeline) {
  return {
    transitions: transitions.map(({ machine, entity, from, to, at, actor, reason }) => ({
      machine,
      entity,
      from,
      to,
      at: at.toISOString(),
      actor,
      reason,
    })),
    executions: executions.map((execution) => ({
      id: execution.id,
      attempt: execution.attempt,
      status: execution.status,
      worker_id: execution.worker_id,
      run_at: execution.run_at.toISOString(),
      dispatched_at: execution.dispatched_at?.toISOString() ?? null,
      lease_expires_at: execution.lease_expires_at?.toISOString() ?? null,
      created_at: execution.created_at.toISOString(),
      started_at: execution.started_at?.toISOString() ?? null,
      finished_at: execution.finished_at?.toISOString() ?? null,
      error: execution.error,
    })),
  };
}
