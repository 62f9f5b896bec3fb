import { sql } from 'kysely';
import { makeJobs, makeUsers, type JobShape } from '@pasteflow/postgres/testing';
import type { Scenario } from './harness/explore.ts';
import type { Operation } from './harness/operation.ts';
import * as deletions from './operations/deletions.ts';
import * as jobs from './operations/jobs.ts';
import * as keyed from './operations/keyed.ts';
import { deleteNewer, moveToNewer, moveToRival } from './operations/uploads.ts';
import * as uploads from './operations/uploads.ts';
import { erase, giveUpNewer, storeNewer, supersede } from './operations/newer-versions.ts';
import { nothing, paste, revealed, withNewerVersion, withSlug } from './paste-scenario.ts';
import { invited } from './invitation-scenario.ts';
import { requestScenarios } from './request-scenarios.ts';
import { webhookScenarios } from './webhook-scenarios.ts';

const STORAGE_PATH = 'archive.zip';

type ShapeOfJob = JobShape extends infer Shape
  ? Shape extends JobShape
    ? Omit<Shape, 'userId'>
    : never
  : never;

function job(name: string, shape: ShapeOfJob, operations: readonly Operation[]): Scenario {
  return {
    name,
    operations,
    prepare: async ({ db }) => {
      const [user] = await makeUsers(db, 1);
      const [made] = await makeJobs(db, 1, { ...shape, userId: user!.id });
      const { id, executionId } = made!;
      await sql`UPDATE task_executions SET user_id = ${user!.id} WHERE id = ${executionId}`.execute(db);
      const lockPoints = {
        job: `SELECT FROM jobs WHERE id = '${id}'`,
        execution: `SELECT FROM task_executions WHERE id = '${executionId}'`,
      };
      return {
        ...nothing,
        takenAtEnd: [],
        objects: new Set([`jobs/${id}/${STORAGE_PATH}`]),
        lockPoints,
        jobId: id,
        userId: user!.id,
        executionId,
      };
    },
  };
}

const { create, createInGroup, createWithSlug, stamp, relay, claim, renew, reap } = uploads;
const { deleteByUser, rescue, retryByOperator, takeDownByOperator } = uploads;
const { settleStored, settleFailed, settleInterrupted, giveUp } = uploads;
const { cleanup, refusedCleanup, settleClaimed, releaseClaimed, watchdog, reconcile } = deletions;
const { removeOldFailed, removeOldTombstones, reveal, cleanupBurned } = deletions;
const { stampJob, relayJobs, claimByTurn, claimNamedJob, createAnotherJob, rescueJob } = jobs;
const { renewJob, progress, addAsset, importPaste } = jobs;
const { complete, failAttempt, failJob, reapJob, removeOldJobs, reconcileJob } = jobs;
const cancelJob = jobs.cancel;

const { keyedCreate, groupedKeyedCreate, slowKeyedCreate, cancelledKeyedCreate, abandonedKeyedCreate } =
  keyed;

const ONE_HOUR = 3600;

/** Plain SQL has ended the open execution. */
function stranded(name: string, scenario: Scenario, operations: readonly Operation[]): Scenario {
  return {
    name,
    operations,
    prepare: async (lane) => {
      const world = await scenario.prepare(lane);
      await sql`UPDATE task_executions SET status = 'FAILED', error = 'ended by hand', finished_at = now(), lease_expires_at = NULL
        WHERE id = ${world.executionId}`.execute(lane.db);
      return { ...world, isStranded: true };
    },
  };
}

const running = { status: 'RUNNING', leaseSeconds: ONE_HOUR } as const;

/** Each state of a paste or a job, with every operation that can meet another one there. */
export const scenarios: readonly Scenario[] = [
  {
    name: 'a short code without a paste',
    operations: [create, createInGroup, claim, relay, cleanup, reconcile],
    prepare: () => Promise.resolve({ ...nothing, takenAtEnd: [], objects: new Set<string>() }),
  },
  {
    name: 'an Idempotency-Key',
    operations: [
      keyedCreate,
      groupedKeyedCreate,
      slowKeyedCreate,
      cancelledKeyedCreate,
      abandonedKeyedCreate,
    ],
    prepare: () => Promise.resolve({ ...nothing, takenAtEnd: [], objects: new Set<string>() }),
  },
  paste('a waiting paste', { status: 'IN_PROGRESS', expiresInSeconds: ONE_HOUR }, [
    create,
    stamp,
    relay,
    claim,
    reap,
    deleteByUser,
    takeDownByOperator,
    cleanup,
    reconcile,
  ]),
  paste(
    'a running paste',
    {
      status: 'IN_PROGRESS',
      expiresInSeconds: ONE_HOUR,
      execution: running,
    },
    [
      claim,
      stamp,
      renew,
      settleStored,
      settleFailed,
      settleInterrupted,
      giveUp,
      reap,
      deleteByUser,
      takeDownByOperator,
      cleanup,
    ],
  ),
  paste(
    'an abandoned paste',
    {
      status: 'IN_PROGRESS',
      expiresInSeconds: ONE_HOUR,
      execution: { status: 'RUNNING', leaseSeconds: -60, attempt: 2 },
    },
    [claim, renew, settleStored, settleFailed, giveUp, reap, deleteByUser, takeDownByOperator, reconcile],
  ),
  paste(
    'a paste that is stored and expired',
    { status: 'PROCESSED', expiresInSeconds: -1, createdSecondsAgo: ONE_HOUR },
    [create, claim, deleteByUser, takeDownByOperator, cleanup, refusedCleanup, watchdog, reconcile],
  ),
  paste('a stored paste', { status: 'PROCESSED', expiresInSeconds: ONE_HOUR }, [
    create,
    claim,
    settleStored,
    deleteByUser,
    takeDownByOperator,
    cleanup,
    reconcile,
  ]),
  paste(
    'a paste claimed for deletion',
    {
      status: 'PROCESSED',
      expiresInSeconds: -1,
      deletion: { status: 'DELETION_IN_PROGRESS', secondsAgo: 7300 },
    },
    [
      create,
      settleClaimed,
      releaseClaimed,
      takeDownByOperator,
      watchdog,
      cleanup,
      reconcile,
      removeOldTombstones,
    ],
  ),
  paste('a stored paste to read once', { status: 'PROCESSED', burn: true, expiresInSeconds: ONE_HOUR }, [
    create,
    reveal,
    deleteByUser,
    takeDownByOperator,
    cleanup,
    watchdog,
    reconcile,
  ]),
  paste('an expired paste to read once', { status: 'PROCESSED', burn: true, expiresInSeconds: -1 }, [
    reveal,
    deleteByUser,
    cleanup,
    refusedCleanup,
  ]),
  revealed('a revealed paste', 7300, [
    reveal,
    takeDownByOperator,
    cleanup,
    cleanupBurned,
    settleClaimed,
    releaseClaimed,
    watchdog,
    reconcile,
  ]),
  paste('a failed paste', { status: 'FAILED', expiresInSeconds: ONE_HOUR, createdSecondsAgo: 2 * ONE_HOUR }, [
    create,
    claim,
    settleStored,
    deleteByUser,
    takeDownByOperator,
    cleanup,
    reconcile,
    retryByOperator,
    removeOldFailed,
  ]),
  paste(
    'a deleted paste',
    { status: 'PROCESSED', expiresInSeconds: -1, deletion: { status: 'DELETED', secondsAgo: 2 * ONE_HOUR } },
    [create, claim, watchdog, takeDownByOperator, reconcile, removeOldTombstones],
  ),
  withSlug('a paste with a slug', [
    createWithSlug,
    moveToNewer,
    moveToRival,
    deleteByUser,
    deleteNewer,
    takeDownByOperator,
    cleanup,
    removeOldTombstones,
  ]),
  withNewerVersion('a paste with a newer version', [
    storeNewer,
    giveUpNewer,
    supersede,
    moveToRival,
    deleteByUser,
    deleteNewer,
    takeDownByOperator,
    erase,
    cleanup,
  ]),
  job('a queued job', { status: 'queued' }, [
    stampJob,
    relayJobs,
    claimByTurn,
    claimNamedJob,
    createAnotherJob,
    cancelJob,
    rescueJob,
    removeOldJobs,
    reconcileJob,
  ]),
  job('a running job', { status: 'processing', execution: running }, [
    claimByTurn,
    renewJob,
    progress,
    addAsset,
    importPaste,
    complete,
    failAttempt,
    failJob,
    reapJob,
    cancelJob,
  ]),
  job('an abandoned job', { status: 'processing', execution: { status: 'RUNNING', leaseSeconds: -60 } }, [
    claimByTurn,
    renewJob,
    progress,
    addAsset,
    importPaste,
    complete,
    failJob,
    reapJob,
    cancelJob,
    reconcileJob,
  ]),
  job('a completed job', { status: 'completed', createdSecondsAgo: 2 * ONE_HOUR }, [
    claimByTurn,
    addAsset,
    complete,
    cancelJob,
    removeOldJobs,
    reconcileJob,
  ]),
  stranded(
    'a stranded paste',
    paste('', { status: 'IN_PROGRESS', expiresInSeconds: ONE_HOUR, execution: running }, []),
    [claim, relay, settleStored, giveUp, rescue, deleteByUser, takeDownByOperator, cleanup],
  ),
  stranded('a stranded job', job('', { status: 'processing', execution: running }, []), [
    claimByTurn,
    relayJobs,
    addAsset,
    complete,
    failJob,
    reapJob,
    cancelJob,
    rescueJob,
    removeOldJobs,
  ]),
  ...requestScenarios,
  ...webhookScenarios,
  invited,
];
