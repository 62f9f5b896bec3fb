import { messageVisibilitySeconds } from '@pasteflow/domain';
import type { Actor, Database, TimeBounds } from '@pasteflow/postgres';
import type { Logger } from '@pasteflow/runtime';
import type { ObjectStore } from '@pasteflow/s3';
import type { SqsClient } from '@pasteflow/sqs';
import type { JanitorConfig } from './config.ts';
import type { WorkQueue } from './sweeps/queues/work-queue.ts';
import type { DeadLetterAges } from './sweeps/dead-letter-ages.ts';
import { checkBeforeDeleting, checked } from './sweeps/running/check-before-deleting.ts';
import type { Sweep, SweepName, Sweeps } from './sweeps/running/sweep.ts';
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
