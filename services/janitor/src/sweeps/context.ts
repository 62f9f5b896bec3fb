import { messageVisibilitySeconds } from '@pasteflow/domain';
import type { Actor, Database, Quotas, TimeBounds } from '@pasteflow/postgres';
import type { Logger, Metrics } from '@pasteflow/runtime';
import type { ObjectStore } from '@pasteflow/s3';
import type { SqsClient } from '@pasteflow/sqs';
import type { JanitorConfig } from '../config.ts';
import type { DeadLetterAges } from './running/findings.ts';
import type { SweptWork, WorkQueue } from './queues/work-queue.ts';

/** Times that nobody has a reason to change, in seconds. */
export const times = {
  /**
   * A frozen or disconnected janitor no longer keeps the others from running the sweeps after this time, which is
   * below the 10 s for which no message may stay unsent.
   */
  lockIdleSeconds: 5,
  /** For so long the api may send a message itself: a cold one took more than 0.2 s on a busy machine. */
  relayGraceSeconds: 1,
  /**
   * No request or statement of a cleanup takes ten seconds: a claim of this age belongs to a janitor that crashed,
   * or was frozen.
   */
  deletionStuckAfterSeconds: 7200,
  /**
   * From the run that first finds an object without a row to the run that may delete it. In this day an operator can
   * still prevent a wrong deletion.
   */
  orphanGraceSeconds: 86_400,
} as const;

/**
 * A message is sent again so long after it was visible again: earlier, each message of a crashed worker would be
 * sent again while another worker takes it.
 */
const REDISPATCH_AFTER_VISIBLE_SECONDS = 20;

export function redispatchAfterSeconds(leaseSeconds: number): number {
  return messageVisibilitySeconds(leaseSeconds) + REDISPATCH_AFTER_VISIBLE_SECONDS;
}

type Times = Readonly<Record<keyof typeof times, number>>;

/**
 * What the sweeps and the metrics work with, with the settings of the sweeps. compose.ts makes it; each part names
 * the fields that it needs.
 */
export interface JanitorContext extends Readonly<JanitorConfig['sweeps']>, Times {
  readonly relayRedispatchAfterSeconds: number;
  readonly actor: Actor;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly db: Database;
  readonly store: ObjectStore;
  readonly sqs: SqsClient;
  /** Of uploads, and of jobs. */
  readonly queues: readonly WorkQueue[];
  /** The queues, and the deliveries of webhooks, which have none. */
  readonly work: readonly SweptWork[];
  readonly deadLetterAges: DeadLetterAges;
  /** How far ahead times can be. */
  readonly bounds: TimeBounds;
  /** null: there are none. */
  readonly quotas: Quotas | null;
  readonly idempotencyRetentionSeconds: number;
  /** Lets one run of reconcile delete any number of objects. */
  readonly allowMassDeletion: boolean;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}
