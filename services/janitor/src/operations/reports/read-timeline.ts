import { isUuid } from '@pasteflow/domain';
import {
  findDelivery,
  findJob,
  findPaste,
  findRequestOf,
  findRetryRefusal,
  findSecretRequest,
  listReceipts,
  readDeliveryTimeline,
  readJobTimeline,
  readPasteChanges,
  readTakedown,
  readTimeline,
  type Database,
  type PasteChange,
  type Timeline,
  type TimelineTakedown,
} from '@pasteflow/postgres';

/**
 * The timeline of a paste, a job or a delivery of a webhook, without any of its content. Names and shapes are those of the api's
 * timeline.
 */
export type SubjectTimeline = NonNullable<Awaited<ReturnType<typeof readSubjectTimeline>>>;

/**
 * Includes expired, deleted and private pastes, which an operator may see.
 * @param of the short code of a paste, or the id of a job or of a delivery
 * @returns null when there is none of them
 */
export async function readSubjectTimeline(db: Database, of: string) {
  if (!isUuid(of)) return await readOfPaste(db, of);
  return (await readOfJob(db, of)) ?? (await readOfDelivery(db, of));
}

async function readOfPaste(db: Database, shortCode: string) {
  const paste = await findPaste(db, shortCode);
  if (paste === null) return null;
  const { id, short_code, status, deletion_status, size_bytes, content_hash, user_id } = paste;
  const { files, failure_reason, created_at, expires_at, deletion_requested_at, gone } = paste;
  /** null: no operator took the paste down. */
  const takedown: TimelineTakedown | null = await readTakedown(db, id);
  return {
    subject: {
      kind: 'paste' as const,
      id,
      short_code,
      status,
      deletion_status,
      size_bytes,
      file_count: files?.length ?? null,
      content_hash,
      user_id,
      failure_reason,
      created_at,
      expires_at,
      deletion_requested_at,
      /** Nobody may read the paste. */
      gone,
      /** The id of a request for secrets; null: the paste is no deposit. */
      deposited_for: await findRequestOf(db, short_code),
    },
    ...shown(await readTimeline(db, id)),
    takedown,
    changes: await readPasteChanges(db, id),
  };
}

async function readOfJob(db: Database, jobId: string) {
  const job = await findJob(db, jobId);
  if (job === null) return null;
  const { id, job_type, status, progress, error_message, created_at, completed_at } = job;
  const { retry_of, retried_as } = job;
  return {
    subject: {
      kind: 'job' as const,
      id,
      job_type,
      status,
      progress,
      error_message,
      created_at,
      completed_at,
      retry_of,
      retried_as,
      can_retry: completed_at !== null && (await findRetryRefusal(db, id)) === null,
    },
    ...shown(await readJobTimeline(db, id)),
    takedown: null,
    changes: [] satisfies readonly PasteChange[],
  };
}

async function readOfDelivery(db: Database, deliveryId: string) {
  const delivery = await findDelivery(db, deliveryId);
  if (delivery === null) return null;
  const { id, endpointId, eventId, type, about, happenedAt, status, answered, failureReason } = delivery;
  const { createdAt, endedAt, retryOf } = delivery;
  return {
    subject: {
      kind: 'delivery' as const,
      id,
      endpoint_id: endpointId,
      event_id: eventId,
      type,
      about,
      status,
      answered,
      failure_reason: failureReason,
      happened_at: happenedAt,
      created_at: createdAt,
      ended_at: endedAt,
      retry_of: retryOf,
    },
    ...shown(await readDeliveryTimeline(db, id)),
    takedown: null,
    changes: [] satisfies readonly PasteChange[],
  };
}

function shown({ transitions, executions, retries }: Timeline) {
  return {
    transitions: transitions.map(({ id: _id, ...transition }) => transition),
    retries: retries.map(({ from, at, actor, reason }) => ({ from, at, actor, reason })),
    executions: executions.map(({ kind: _kind, subject_id: _subject, ...execution }) => execution),
  };
}

export type RequestTimeline = NonNullable<Awaited<ReturnType<typeof readRequestTimeline>>>;

/** A request for secrets, with the receipts that were given for its deposits; null: there is none. */
export async function readRequestTimeline(db: Database, code: string) {
  const found = await findSecretRequest(db, code);
  if (found === null) return null;
  const { id, userId, message, places, taken, status, createdAt, expiresAt } = found;
  const { transitions } = shown(await readTimeline(db, id));
  const receipts = await listReceipts(db, id);
  return {
    subject: {
      kind: 'request' as const,
      id: code,
      user_id: userId,
      message,
      status,
      places,
      taken,
      created_at: createdAt,
      expires_at: expiresAt,
    },
    transitions,
    deposits: receipts.map(({ shortCode, createdAt: at }) => ({ receipt: shortCode, created_at: at })),
  };
}
