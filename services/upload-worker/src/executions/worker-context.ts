import type { JobType } from '@pasteflow/jobs';
import type { Database } from '@pasteflow/postgres';
import type { ServiceContext } from '@pasteflow/runtime';
import type { BucketOwnership } from '@pasteflow/service-kit';
import type { SqsClient } from '@pasteflow/sqs';
import type { Config } from '../config.ts';
import type { ReceiveGate } from './receive-gate.ts';
import type { RunningExecutions } from './running-executions.ts';

/** What everything that this process runs shares, for all queues. */
export interface WorkerContext extends Pick<ServiceContext<Config>, 'config' | 'logger' | 'metrics'> {
  readonly db: Database;
  /** Opens a pool of its own, which this process cuts at the end of a stop. */
  readonly connect: (maxConnections: number) => Database;
  /** For all requests except receives. */
  readonly sqs: SqsClient;
  readonly jobTypes: ReadonlyMap<string, JobType>;
  readonly gate: ReceiveGate;
  /**
   * Nothing is received, and so nothing written to S3, before the bucket is known to belong to the database.
   */
  readonly bucket: Pick<BucketOwnership, 'waitUntilVerified'>;
  readonly running: RunningExecutions;
  /** The name of this process in the audit trail. */
  readonly actor: string;
  readonly leaseSeconds: number;
  /** Aborted when the worker stops: work that can go on elsewhere commits what it has, and ends as interrupted. */
  readonly stopping: AbortSignal;
  /** Aborted when the grace period of a stop is over: running attempts must end as interrupted. */
  readonly graceOver: AbortSignal;
}
