import { type OwnerCheck, checkBucketOwner } from '@pasteflow/service-kit';
import type { SweepName } from './sweep-names.ts';
import type { Sweep, Sweeps } from './sweeps/running/sweep.ts';
import { createCleanup, createDeletionWatchdog } from './sweeps/cleanup.ts';
import { createDeadLetters } from './sweeps/dead-letters.ts';
import { createErasures } from './sweeps/erasures.ts';
import { createJobs } from './sweeps/jobs.ts';
import { createMeasure } from './sweeps/measure.ts';
import { createReapExecutions } from './sweeps/reap-executions.ts';
import { createReconcile } from './sweeps/reconcile.ts';
import { createRescueStranded } from './sweeps/rescue-stranded.ts';
import { createRelay } from './sweeps/relay.ts';
import { createTombstones, createFailedPastes, createExpiredKeys } from './sweeps/old-rows.ts';
import type { JanitorContext } from './sweeps/context.ts';

/** Every sweep. Those that delete first check the owner of the bucket and the clocks. */
export function createSweeps(janitor: JanitorContext): Sweeps {
  const deleting = <Name extends SweepName>(sweep: Sweep<Name>) =>
    checked(sweep, () => checkBeforeDeleting(janitor));
  return {
    relay: createRelay(janitor),
    'reap-executions': createReapExecutions(janitor),
    'rescue-stranded': createRescueStranded(janitor),
    cleanup: deleting(createCleanup(janitor)),
    'deletion-watchdog': createDeletionWatchdog(janitor),
    erasures: deleting(createErasures(janitor)),
    'failed-pastes': deleting(createFailedPastes(janitor)),
    'dead-letters': createDeadLetters(janitor),
    jobs: deleting(createJobs(janitor)),
    tombstones: deleting(createTombstones(janitor)),
    reconcile: deleting(createReconcile(janitor)),
    'expired-keys': deleting(createExpiredKeys(janitor)),
    measure: createMeasure(janitor),
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
