import type { BucketOwnership } from '@pasteflow/service-kit';
import type { Database } from '@pasteflow/postgres';
import type { ReceiveGate } from './receive-gate.ts';
import type { RunningExecutions } from './running-executions.ts';

/** Shared by everything that this process runs, for all queues. */
export interface WorkerContext {
  readonly db: Database;
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
