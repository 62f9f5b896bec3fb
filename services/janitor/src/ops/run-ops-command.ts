import {
  type Answer,
  EXIT_FAILED,
  asJson,
  failed,
  runCommandLine,
  succeeded,
  withDatabase,
} from '@pasteflow/service-kit';
import type { Database } from '@pasteflow/postgres';
import type { Environment } from '@pasteflow/runtime';
import { createObjectStore, type ObjectStore } from '@pasteflow/s3';
import { createSqsClient, type SqsClient } from '@pasteflow/sqs';
import { loadJanitorConfig, type JanitorConfig } from '../config.ts';
import { runAdoptBucket } from './adopt-bucket.ts';
import { runBlock, runBlocks, runUnblock } from './block-content.ts';
import { runCancelJob } from './cancel-job.ts';
import { parseOpsCommand, usage, type OpsCommand, type Subject } from './command-line.ts';
import { recordedIfActing } from './recorded-command.ts';
import { readStatus } from './read-status.ts';
import { readSubjectTimeline } from './read-timeline.ts';
import { runRestoreObjects } from './restore-objects.ts';
import { retriedText, retryDeadLetters } from './retry-dead-letters.ts';
import { runRetryFailed } from './retry-failed.ts';
import { statusText } from './status-text.ts';
import { runTakeDown } from './take-down.ts';
import { subjectText, timelineText } from './timeline-text.ts';

/** An operator waits for the answer at a terminal. */
const SQS_TIMEOUT_MS = 5000;

/** Of one page of a listing, among other requests. */
const S3_TIMEOUT_MS = 10_000;

/** `npm run ops`. @param onProgress called with lines that a long command shows while it runs */
export function runOpsCommand(
  args: readonly string[],
  env: Environment,
  onProgress: (line: string) => void = () => {},
): Promise<Answer> {
  const run = (command: OpsCommand) => runCommand(command, env, onProgress);
  return runCommandLine({ name: 'ops', usage, parse: parseOpsCommand, run }, args, env);
}

function runCommand(
  command: OpsCommand,
  env: Environment,
  onProgress: (line: string) => void,
): Promise<Answer> {
  const acting = (run: (db: Database) => Promise<Answer>) =>
    withDatabase('ops', env, (db) => recordedIfActing(db, command, () => run(db)));
  switch (command.kind) {
    case 'timeline':
      return showTimeline(command.of, command.json, env);
    case 'status':
      return showStatus(command.json, env);
    case 'retry':
      return acting((db) => runRetryFailed(db, { ...command, onProgress }));
    case 'cancel':
      return acting((db) => runCancelJob(db, command));
    case 'retry-dead-letters':
      return acting(() => retry(command.json, env));
    case 'takedown':
      return acting((db) => runTakeDown(db, { ...command, onProgress }));
    case 'block':
      return acting((db) => runBlock(db, command));
    case 'unblock':
      return acting((db) => runUnblock(db, command));
    case 'blocks':
      return withDatabase('ops', env, (db) => runBlocks(db, command.json));
    case 'adopt-bucket':
      return withBucket(env, (db, store) =>
        recordedIfActing(db, command, () => runAdoptBucket(db, store, command)),
      );
    case 'restore-objects':
      return withBucket(env, (db, store) =>
        recordedIfActing(db, command, () => runRestoreObjects(db, store, command)),
      );
    default:
      return command satisfies never;
  }
}

async function showTimeline(of: Subject, json: boolean, env: Environment): Promise<Answer> {
  const timeline = await withDatabase('ops', env, (db) => readSubjectTimeline(db, of));
  if (timeline === null) return failed(EXIT_FAILED, `ops: there is no ${subjectText(of)}\n`);
  return succeeded(json ? asJson(timeline) : timelineText(timeline));
}

async function showStatus(json: boolean, env: Environment): Promise<Answer> {
  const config = loadJanitorConfig(env);
  const status = await withDatabase('ops', env, (db) =>
    withSqs(config, (sqs) => readStatus({ db, sqs, config })),
  );
  return succeeded(json ? asJson(status) : statusText(status));
}

async function retry(json: boolean, env: Environment): Promise<Answer> {
  const config = loadJanitorConfig(env);
  const queues = await withSqs(config, (sqs) => retryDeadLetters(sqs, config.queues));
  return succeeded(json ? asJson({ queues }) : retriedText(queues));
}

async function withBucket<T>(
  env: Environment,
  use: (db: Database, store: ObjectStore) => Promise<T>,
): Promise<T> {
  const { aws, bucket } = loadJanitorConfig(env);
  const store = createObjectStore({
    bucket,
    region: aws.region,
    endpoint: aws.s3Endpoint,
    maxAttempts: 3,
    requestTimeoutMs: S3_TIMEOUT_MS,
  });
  try {
    return await withDatabase('ops', env, (db) => use(db, store));
  } finally {
    store.close();
  }
}

async function withSqs<T>({ aws }: JanitorConfig, use: (sqs: SqsClient) => Promise<T>): Promise<T> {
  const sqs = createSqsClient({
    region: aws.region,
    endpoint: aws.sqsEndpoint,
    requestTimeoutMs: SQS_TIMEOUT_MS,
  });
  try {
    return await use(sqs);
  } finally {
    sqs.destroy();
  }
}
