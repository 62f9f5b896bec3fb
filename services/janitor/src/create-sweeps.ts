import { messageVisibilitySeconds } from '@pasteflow/domain';
import { type OwnerCheck, checkBucketOwner } from '@pasteflow/service-kit';
import type { Actor, Database, TimeBounds } from '@pasteflow/postgres';
import type { Logger } from '@pasteflow/runtime';
import type { ObjectStore } from '@pasteflow/s3';
import type { SqsClient } from '@pasteflow/sqs';
import type { JanitorConfig } from './config.ts';
import type { WorkQueue } from './sweeps/queues/work-queue.ts';
import type { DeadLetterAges } from './sweeps/dead-letters.ts';
import type { SweepName } from './sweep-names.ts';
import type { Sweep, Sweeps } from './sweeps/running/sweep.ts';
import { createCleanup } from './sweeps/cleanup.ts';
import { createDeadLetters } from './sweeps/dead-letters.ts';
import { createDeletionWatchdog, DELETION_STUCK_AFTER_SECONDS } from './sweeps/deletion-watchdog.ts';
import { createErasures } from './sweeps/erasures.ts';
import { createExpiredKeys } from './sweeps/expired-keys.ts';
import { createFailedPastes } from './sweeps/failed-pastes.ts';
import { createJobs } from './sweeps/jobs.ts';
import { createMeasure } from './sweeps/measure.ts';
import { createReapExecutions } from './sweeps/reap-executions.ts';
import { createReconcile } from './sweeps/reconcile.ts';
import { createRescueStranded } from './sweeps/rescue-stranded.ts';
import { createRelay } from './sweeps/relay.ts';
import { createTombstones } from './sweeps/tombstones.ts';

/** For so long the api may send a message itself: a cold one took more than 0.2 s on a busy machine. */
const RELAY_GRACE_SECONDS = 1;

/**
 * A message is sent again so long after it was visible again: earlier, each message of a crashed worker would
 * be sent again while another worker takes it.
 */
const REDISPATCH_AFTER_VISIBLE_SECONDS = 20;

/**
 * From the run that first finds an object without a row to the run that may delete it. In this day an operator
 * can still prevent a wrong deletion.
 */
const ORPHAN_GRACE_SECONDS = 86_400;

interface SweepDependencies {
  readonly db: Database;
  readonly actor: Actor;
  readonly logger: Logger;
  readonly store: ObjectStore;
  readonly sqs: SqsClient;
  readonly queues: readonly WorkQueue[];
  readonly bounds: TimeBounds;
  readonly deadLetterAges: DeadLetterAges;
  readonly allowMassDeletion: boolean;
}

/** Every sweep. Those that delete first check the owner of the bucket and the clocks. */
export function createSweeps(
  { deadLetterAges, queues, bounds, sqs, store, allowMassDeletion, ...base }: SweepDependencies,
  { sweeps: settings, idempotencyRetentionSeconds, quotas }: JanitorConfig,
): Sweeps {
  const { db, actor } = base;
  const deleting = <Name extends SweepName>(sweep: Sweep<Name>) =>
    checked(sweep, () => checkBeforeDeleting({ db, store, actor }));
  const dispatching = { sqs, queues, random: Math.random };
  return {
    relay: createRelay({
      ...dispatching,
      graceSeconds: RELAY_GRACE_SECONDS,
      redispatchAfterSeconds:
        messageVisibilitySeconds(settings.leaseSeconds) + REDISPATCH_AFTER_VISIBLE_SECONDS,
    }),
    'reap-executions': createReapExecutions({ ...base, ...dispatching }),
    'rescue-stranded': createRescueStranded({
      ...base,
      ...dispatching,
      countsOlder: quotas !== null,
      bounds,
    }),
    cleanup: deleting(createCleanup({ ...base, store })),
    'deletion-watchdog': createDeletionWatchdog({
      ...base,
      stuckAfterSeconds: DELETION_STUCK_AFTER_SECONDS,
    }),
    erasures: deleting(createErasures({ ...base, store })),
    'failed-pastes': deleting(
      createFailedPastes({ ...base, store, retentionSeconds: settings.failedRetentionSeconds }),
    ),
    'dead-letters': createDeadLetters({
      ...base,
      ...dispatching,
      ages: deadLetterAges,
      leaseSeconds: settings.leaseSeconds,
    }),
    jobs: deleting(createJobs({ ...base, store, retentionSeconds: settings.jobRetentionSeconds })),
    tombstones: deleting(
      createTombstones({
        db,
        tombstoneRetentionSeconds: settings.tombstoneRetentionSeconds,
        transitionRetentionSeconds: settings.transitionRetentionSeconds,
      }),
    ),
    reconcile: deleting(
      createReconcile({
        ...base,
        store,
        minAgeSeconds: settings.reconcileMinAgeSeconds,
        orphanGraceSeconds: ORPHAN_GRACE_SECONDS,
        allowMassDeletion,
        jobRetentionSeconds: settings.jobRetentionSeconds,
      }),
    ),
    'expired-keys': deleting(createExpiredKeys({ db, idempotencyRetentionSeconds })),
    measure: createMeasure({ db }),
  };
}

/**
 * Rows and objects are deleted by age, and the database's clock measures the age. Clocks that are kept by NTP
 * differ by less than a second; S3 itself refuses requests that are 15 minutes off.
 */
const MAX_CLOCK_DIFFERENCE_MS = 3_600_000;

/**
 * @param check see `checkBeforeDeleting`
 * @returns the sweep, which fails before it starts when the check fails
 */
function checked<Name extends SweepName>(sweep: Sweep<Name>, check: () => Promise<void>): Sweep<Name> {
  return {
    name: sweep.name,
    refused: sweep.refused,
    runOnce: async (signal, into) => {
      await check();
      return await sweep.runOnce(signal, into);
    },
  };
}

/**
 * The check of every run that deletes: the bucket belongs to the database, and the database's clock agrees
 * with that of S3 (with this process's, when S3 sends none).
 * @throws BucketOwnerError, ClockError, or DependencyUnavailableError
 */
export async function checkBeforeDeleting(owner: OwnerCheck): Promise<void> {
  const { databaseTime, storeTime } = await checkBucketOwner(owner);
  const reference = storeTime ?? new Date();
  const difference = databaseTime.getTime() - reference.getTime();
  if (Math.abs(difference) > MAX_CLOCK_DIFFERENCE_MS) throw new ClockError(databaseTime, reference);
}

/** A clock is wrong, so nothing is deleted by age. */
export class ClockError extends Error {
  constructor(databaseTime: Date, reference: Date) {
    super(
      `The clock of the database shows ${databaseTime.toISOString()}, and that of S3 ${reference.toISOString()}. ` +
        'Nothing is deleted while they differ by more than an hour. Correct the clock that is wrong.',
    );
    this.name = 'ClockError';
  }
}
