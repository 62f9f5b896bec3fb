import type { Database } from '@pasteflow/postgres';
import type { SqsClient } from '@pasteflow/sqs';
import type { QueueConfig } from '@pasteflow/service-kit';
import type { SweepRunner } from '../../sweeps/running/sweep-runner.ts';
import type { Sweeps } from '../../sweeps/running/sweep.ts';
import type { Action } from './action.ts';
import { block, unblock } from './blocks.ts';
import { cancelJob } from './cancel-job.ts';
import { retryDeadLetters } from './dead-letters.ts';
import { erase } from './erase.ts';
import { reject, uphold } from './judge-reports.ts';
import { retry, retryFailedPastes } from './retry.ts';
import { pause, resume } from './pauses.ts';
import { retryJob } from './retry-job.ts';
import { runSweep } from './run-sweep.ts';
import { takedown, takedownUser } from './takedown.ts';

/** The actions that need only the database, by the name under which each is recorded. */
export const actionsOnRows = {
  takedown,
  'takedown-user': takedownUser,
  uphold,
  reject,
  block,
  unblock,
  retry,
  'retry-failed': retryFailedPastes,
  'retry-job': retryJob,
  'cancel-job': cancelJob,
  pause,
  resume,
  erase,
} as const satisfies Record<string, (db: Database) => Action>;

export interface ActionDependencies {
  readonly db: Database;
  readonly sqs: SqsClient;
  readonly queues: QueueConfig;
  readonly sweeps: Sweeps;
  readonly runner: Pick<SweepRunner, 'run'>;
  readonly keptVersions: () => Promise<string | null>;
}

/** All actions of the operations page, by their names. */
export function createActions({
  db,
  sqs,
  queues,
  sweeps,
  runner,
  keptVersions,
}: ActionDependencies): ReadonlyMap<string, Action> {
  return new Map([
    ...Object.entries(actionsOnRows).map(([name, create]) => [name, create(db)] as const),
    ['erase', erase(db, keptVersions)],
    ['retry-dead-letters', retryDeadLetters(sqs, queues)],
    ['run-sweep', runSweep(sweeps, runner)],
  ]);
}
