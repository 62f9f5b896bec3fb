import type { Database } from '@pasteflow/postgres';
import type { Environment } from '@pasteflow/runtime';
import { commandDatabase } from '@pasteflow/service-kit';
import { createObjectStore, type ObjectStore } from '@pasteflow/s3';
import { createSqsClient, type SqsClient } from '@pasteflow/sqs';
import { loadJanitorConfig, type JanitorConfig } from '../config.ts';
import type { SweepName } from '../sweep-names.ts';
import type { SweepCounts } from '../sweeps/running/sweep.ts';

/** What operators' actions and commands work with. */
export interface Operations {
  readonly config: JanitorConfig;
  readonly db: Database;
  readonly sqs: SqsClient;
  readonly store: ObjectStore;
  /** @returns null when the sweep is running */
  readonly runSweep: (name: SweepName, signal: AbortSignal) => Promise<SweepCounts | null>;
}

/** An operator waits for the answer at a terminal. */
const SQS_TIMEOUT_MS = 5000;

/** Of one page of a listing, among other requests. */
const S3_TIMEOUT_MS = 10_000;

/**
 * For a command. Everything is opened at its first use, so that a command that needs only the database asks for no
 * settings of S3 and SQS.
 */
export async function withOperations<T>(
  env: Environment,
  use: (operations: Operations) => Promise<T>,
): Promise<T> {
  const closings: (() => unknown)[] = [];
  const atFirstUse = <Opened>(open: () => Opened, close: (opened: Opened) => unknown): (() => Opened) => {
    let known: { readonly opened: Opened } | undefined;
    return () => {
      if (known !== undefined) return known.opened;
      const opened = open();
      closings.push(() => close(opened));
      known = { opened };
      return opened;
    };
  };
  const config = atFirstUse(
    () => loadJanitorConfig(env),
    () => {},
  );
  const db = atFirstUse(
    () => commandDatabase('ops', env),
    (opened) => opened.destroy(),
  );
  const sqs = atFirstUse(
    () => {
      const { region, sqsEndpoint: endpoint } = config().aws;
      return createSqsClient({ region, endpoint, requestTimeoutMs: SQS_TIMEOUT_MS });
    },
    (opened) => opened.destroy(),
  );
  const store = atFirstUse(
    () => {
      const { aws, bucket } = config();
      const { region, s3Endpoint: endpoint } = aws;
      return createObjectStore({
        bucket,
        region,
        endpoint,
        maxAttempts: 3,
        requestTimeoutMs: S3_TIMEOUT_MS,
      });
    },
    (opened) => opened.close(),
  );
  const operations: Operations = {
    get config() {
      return config();
    },
    get db() {
      return db();
    },
    get sqs() {
      return sqs();
    },
    get store() {
      return store();
    },
    runSweep: () => Promise.reject(new Error('the command janitor --once runs a sweep')),
  };
  try {
    return await use(operations);
  } finally {
    for (const close of closings.toReversed()) await close();
  }
}
