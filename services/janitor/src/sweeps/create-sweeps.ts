import type { Actor, Database, TimeBounds } from '@pasteflow/postgres';
import type { Logger } from '@pasteflow/runtime';
import type { ObjectStore } from '@pasteflow/s3';
import type { SqsClient } from '@pasteflow/sqs';
import type { JanitorConfig } from '../config.ts';
import type { WorkQueue } from '../queues/work-queue.ts';
import type { DeadLetterAges } from '../state-metrics/dead-letter-ages.ts';
import { checkBeforeDeleting, checked } from '../sweep-runner/check-before-deleting.ts';
import type { Sweep, SweepName, Sweeps } from '../sweep-runner/sweep.ts';
import { createCleanup } from './cleanup.ts';
import { createDeadLetters } from './dead-letters.ts';
import { createDeletionWatchdog } from './deletion-watchdog.ts';
import { createErasures } from './erasures.ts';
import { createExpiredKeys } from './expired-keys.ts';
import { createFailedPastes } from './failed-pastes.ts';
import { createJobs } from './jobs.ts';
import { createMeasure } from './measure.ts';
import { createReapExecutions } from './reap-executions.ts';
import { createReconcile } from './reconcile.ts';
import { createRescueStranded } from './rescue-stranded.ts';
import { createRelay } from './relay.ts';
import { createTombstones } from './tombstones.ts';

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
      graceSeconds: settings.relayGraceSeconds,
      redispatchAfterSeconds: settings.relayRedispatchAfterSeconds,
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
      stuckAfterSeconds: settings.deletionStuckAfterSeconds,
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
        orphanGraceSeconds: settings.orphanGraceSeconds,
        allowMassDeletion,
        jobRetentionSeconds: settings.jobRetentionSeconds,
      }),
    ),
    'expired-keys': deleting(createExpiredKeys({ db, idempotencyRetentionSeconds })),
    measure: createMeasure({ db }),
  };
}
