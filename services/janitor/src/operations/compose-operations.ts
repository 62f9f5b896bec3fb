import type { Database } from '@pasteflow/postgres';
import type { Component, Logger, Metrics } from '@pasteflow/runtime';
import type { SqsClient } from '@pasteflow/sqs';
import { loadAssets } from '@pasteflow/web';
import type { StatusSources } from '../ops/read-status.ts';
import type { SweepRunner } from '../sweeping/run-sweep.ts';
import type { Sweeps } from '../sweeping/sweep.ts';
import { ActionRunner } from './action-runner.ts';
import { createActions } from './actions.ts';
import type { MinuteHistory } from './minutes.ts';
import type { OperationsConfig } from '../operations-env.ts';
import { OperationsServer } from './operations-server.ts';
import { OverviewReader } from './overview-reader.ts';

export interface OperationsDependencies {
  readonly db: Database;
  readonly sqs: SqsClient;
  readonly sweeps: Sweeps;
  readonly runner: SweepRunner;
  readonly minutes: MinuteHistory;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

export function composeOperations(
  config: OperationsConfig,
  janitor: StatusSources['config'],
  { db, sqs, sweeps, runner, minutes, logger, metrics }: OperationsDependencies,
): Component {
  return new OperationsServer({
    config,
    db,
    minutes,
    overview: new OverviewReader({ db, sqs, config: janitor }),
    actions: createActions({ db, sqs, queues: janitor.queues, sweeps, runner }),
    runner: new ActionRunner({ db, logger, metrics }),
    assets: loadAssets(),
    logger,
  });
}
