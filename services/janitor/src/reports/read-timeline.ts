import { isUuid } from '@pasteflow/domain';
import {
  findJob,
  findPaste,
  readJobTimeline,
  readTakedown,
  readTimeline,
  type Database,
  type Timeline,
  type TimelineTakedown,
} from '@pasteflow/postgres';

/**
 * The timeline of a paste or a job, without any of its content. Names and shapes are those of the api's
 * timeline.
 */
export interface SubjectTimeline {
  readonly subject:
    | {
        readonly kind: 'paste';
        readonly id: string;
        readonly short_code: string;
        readonly status: string;
        readonly deletion_status: string;
        readonly size_bytes: number;
        readonly content_hash: string;
        readonly user_id: string | null;
        readonly failure_reason: string | null;
        readonly created_at: Date;
        readonly expires_at: Date | null;
        readonly deletion_requested_at: Date | null;
        /** Nobody may read it. */
        readonly gone: boolean;
      }
    | {
        readonly kind: 'job';
        readonly id: string;
        readonly job_type: string;
        readonly status: string;
        readonly progress: number;
        readonly error_message: string | null;
        readonly created_at: Date;
        readonly completed_at: Date | null;
      };
  readonly transitions: readonly Omit<Timeline['transitions'][number], 'id'>[];
  readonly executions: readonly Omit<Timeline['executions'][number], 'kind' | 'subject_id'>[];
  readonly retries: Timeline['retries'];
  /** null: no operator took the paste down. */
  readonly takedown: TimelineTakedown | null;
}

/**
 * Includes expired, deleted and private pastes, which an operator may see.
 * @param of the short code of a paste, or the id of a job
 * @returns null when there is no such paste or job
 */
export async function readSubjectTimeline(db: Database, of: string): Promise<SubjectTimeline | null> {
  if (!isUuid(of)) {
    const paste = await findPaste(db, of);
    if (paste === null) return null;
    const { id, short_code, status, deletion_status, size_bytes, content_hash, user_id } = paste;
    const { failure_reason, created_at, expires_at, deletion_requested_at, gone } = paste;
    const file = { size_bytes, content_hash, user_id };
    const subject = { kind: 'paste' as const, id, short_code, status, deletion_status, ...file };
    return {
      subject: { ...subject, failure_reason, created_at, expires_at, deletion_requested_at, gone },
      ...shown(await readTimeline(db, id)),
      takedown: await readTakedown(db, id),
    };
  }
  const job = await findJob(db, of);
  if (job === null) return null;
  const { id, job_type, status, progress, error_message, created_at, completed_at } = job;
  return {
    subject: { kind: 'job', id, job_type, status, progress, error_message, created_at, completed_at },
    ...shown(await readJobTimeline(db, id)),
    takedown: null,
  };
}

function shown({
  transitions,
  executions,
  retries,
}: Timeline): Omit<SubjectTimeline, 'subject' | 'takedown'> {
  return {
    transitions: transitions.map(({ machine, entity, from, to, at, actor, reason }) => ({
      machine,
      entity,
      from,
      to,
      at,
      actor,
      reason,
    })),
    retries,
    executions: executions.map(({ kind: _kind, subject_id: _subject, ...execution }) => execution),
  };
}
