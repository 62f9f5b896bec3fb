import { defineMachine, type Machine, type StateOf } from './machine.ts';

export const pasteUpload = defineMachine({
  name: 'paste_upload',
  storedIn: {
    table: 'pastes',
    column: 'status',
    identityColumns: ['id', 'short_code', 'content_hash', 'size_bytes'],
    reasonColumn: 'failure_reason',
  },
  initial: 'IN_PROGRESS',
  states: {
    IN_PROGRESS: {
      meaning:
        'The content is in its payload. An upload-worker settles the upload. The upload of a crashed worker stays IN_PROGRESS, and runs again.',
      to: ['PROCESSED', 'FAILED'],
    },
    PROCESSED: { meaning: 'The content is in S3 at s3_url; the payload is deleted.', to: [] },
    FAILED: {
      meaning:
        'Every attempt failed; failure_reason says why. An operator can retry the upload; otherwise the failed-pastes sweep removes the row.',
      to: [],
    },
  },
});

export type PasteUploadState = StateOf<typeof pasteUpload>;

export const pasteDeletion = defineMachine({
  name: 'paste_deletion',
  storedIn: {
    table: 'pastes',
    column: 'deletion_status',
    identityColumns: ['id', 'short_code', 'content_hash', 'size_bytes', 'burn', 'parent'],
    reasonColumn: null,
  },
  initial: 'NOT_EXPIRED',
  states: {
    NOT_EXPIRED: {
      meaning:
        'Not claimed for deletion. The cleanup claims the paste once its deletion was requested or expires_at has passed; a reveal ' +
        'claims a paste that is deleted when it is read.',
      to: ['DELETION_IN_PROGRESS'],
    },
    DELETION_IN_PROGRESS: {
      meaning:
        'A cleanup has claimed the paste and deletes the object, or a reveal has read the paste, and a cleanup deletes the object ' +
        'six minutes later. The cleanup ends the deletion, or releases the paste when S3 refuses the key. The deletion-watchdog ' +
        'releases the paste when the cleanup crashed.',
      to: ['DELETED', 'NOT_EXPIRED'],
      since: 'deletion_initiated_at',
    },
    DELETED: {
      meaning: 'The object is deleted; the row is a tombstone. The tombstones sweep removes the row.',
      to: [],
    },
  },
});

export type PasteDeletionState = StateOf<typeof pasteDeletion>;

export const job = defineMachine({
  name: 'job',
  storedIn: {
    table: 'jobs',
    column: 'status',
    identityColumns: ['id', 'user_id', 'job_type'],
    reasonColumn: 'error_message',
  },
  initial: 'queued',
  states: {
    queued: {
      meaning: 'Accepted, and not claimed yet. An upload-worker claims the job.',
      to: ['processing'],
    },
    processing: {
      meaning:
        'A worker runs the job, or the next attempt waits. The worker ends the job, also at the tenth stop without a new asset; the reaper ends the job at its sixth loss.',
      to: ['completed', 'partial', 'failed'],
    },
    completed: { meaning: 'All work was done.', to: [] },
    partial: {
      meaning: 'Some work was done and some failed; result and error_message say which.',
      to: [],
    },
    failed: { meaning: 'No work was done; error_message says why.', to: [] },
  },
});

export type JobState = StateOf<typeof job>;

export const taskExecution = defineMachine({
  name: 'task_execution',
  storedIn: {
    table: 'task_executions',
    column: 'status',
    identityColumns: ['id', 'kind', 'subject_id'],
    reasonColumn: 'error',
  },
  initial: 'PENDING',
  states: {
    PENDING: {
      meaning: 'Due at run_at, and not claimed. An upload-worker claims the execution.',
      to: ['RUNNING'],
    },
    RUNNING: {
      meaning:
        'A worker holds the execution under a lease. That worker ends the execution; the reaper does once the lease has expired.',
      to: ['SUCCEEDED', 'FAILED'],
      since: 'started_at',
    },
    SUCCEEDED: { meaning: 'The attempt succeeded.', to: [] },
    FAILED: {
      meaning:
        'The attempt failed; error says why. The next execution is PENDING unless this was the last attempt.',
      to: [],
    },
  },
});

export type TaskExecutionState = StateOf<typeof taskExecution>;

export const pasteReport = defineMachine({
  name: 'paste_report',
  storedIn: {
    table: 'paste_reports',
    column: 'status',
    identityColumns: ['id', 'content_hash'], // a retry gives the report to the paste that replaces its own
    reasonColumn: null,
  },
  initial: 'open',
  states: {
    open: {
      meaning:
        'An operator judges the report. The cleanup removes the report of a paste that was deleted meanwhile.',
      to: ['upheld', 'rejected'],
    },
    upheld: { meaning: 'The paste was taken down.', to: [] },
    rejected: { meaning: 'The content stays, and is not reported again.', to: [] },
  },
});

export type PasteReportState = StateOf<typeof pasteReport>;

export const erasure = defineMachine({
  name: 'erasure',
  storedIn: {
    table: 'erasures',
    column: 'status',
    identityColumns: ['id', 'user_id'],
    reasonColumn: null,
  },
  initial: 'requested',
  states: {
    requested: { meaning: 'The name, the tokens and the sessions have ended.', to: ['at_work'] },
    at_work: { meaning: 'The sweep `erasures` deletes the rest.', to: ['done'] },
    done: { meaning: 'Ids are left.', to: [] },
  },
});

export type ErasureState = StateOf<typeof erasure>;

/** Somebody asks others for secrets. That the time of a request is over is no state: `expires_at` says so, as of a paste. */
export const secretRequest = defineMachine({
  name: 'secret_request',
  storedIn: {
    table: 'secret_requests',
    column: 'status',
    identityColumns: ['id', 'code', 'user_id', 'message', 'places', 'created_at', 'expires_at'],
    reasonColumn: null,
  },
  initial: 'OPEN',
  states: {
    OPEN: {
      meaning:
        'Takes deposits until expires_at. The deposit that takes the last place ends the request; its user or an operator can cancel it.',
      to: ['USED_UP', 'CANCELLED'],
    },
    USED_UP: { meaning: 'Every place is taken.', to: [] },
    CANCELLED: { meaning: 'Its user, or an operator, has closed the request. The deposits stay.', to: [] },
  },
});

export type SecretRequestState = StateOf<typeof secretRequest>;

/** One endpoint of a webhook is told of one event. */
export const webhookDelivery = defineMachine({
  name: 'webhook_delivery',
  storedIn: {
    table: 'webhook_deliveries',
    column: 'status',
    identityColumns: [
      'id',
      'endpoint_id',
      'user_id',
      'event_id',
      'type',
      'about',
      'occurrence',
      'happened_at',
      'retry_of',
    ],
    reasonColumn: 'failure_reason',
  },
  initial: 'WAITING',
  states: {
    WAITING: {
      meaning: 'To be sent. A worker sends the delivery and ends it; the reaper does at the sixth loss.',
      to: ['DELIVERED', 'FAILED'],
    },
    DELIVERED: { meaning: 'The endpoint has taken the delivery.', to: [] },
    FAILED: {
      meaning:
        'Every attempt failed, or the endpoint is switched off; failure_reason says which. The owner of the endpoint can have the event sent again, as a new delivery.',
      to: [],
    },
  },
});

export type WebhookDeliveryState = StateOf<typeof webhookDelivery>;

/**
 * Every state machine of Pasteflow. The triggers and CHECKs in Postgres, the diagrams and the pair tests are
 * generated from this list.
 */
export const machines = [
  pasteUpload,
  pasteDeletion,
  job,
  taskExecution,
  pasteReport,
  erasure,
  secretRequest,
  webhookDelivery,
] as const satisfies readonly Machine[];

export type MachineName = (typeof machines)[number]['name'];
