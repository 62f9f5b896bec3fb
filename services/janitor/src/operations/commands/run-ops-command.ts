import {
  type CommandResult,
  EXIT_FAILED,
  asJson,
  failed,
  quote,
  runCommandLine,
  succeeded,
  withDatabase,
} from '@pasteflow/service-kit';
import { isUuid } from '@pasteflow/domain';
import { findUserId, listErasures, type Database } from '@pasteflow/postgres';
import type { Environment } from '@pasteflow/runtime';
import { createObjectStore, type ObjectStore } from '@pasteflow/s3';
import { createSqsClient, type SqsClient } from '@pasteflow/sqs';
import type { Action } from '../actions/action.ts';
import { actionsOnRows } from '../actions/actions.ts';
import { erase } from '../actions/erase.ts';
import { retryDeadLetters } from '../actions/dead-letters.ts';
import { messageOf, operator, recorded, type RecordedAction } from '../actions/record.ts';
import { loadJanitorConfig, type JanitorConfig } from '../../config.ts';
import { keptVersionsOrWhyNot } from '../reports/kept-versions.ts';
import { needsOf } from '../reports/needs.ts';
import { readStatus } from '../reports/read-status.ts';
import { readSubjectTimeline } from '../reports/read-timeline.ts';
import { adoptBucket } from './adopt-bucket.ts';
import {
  parseOpsCommand,
  usage,
  type ActCommand,
  type CountCommand,
  type OpsCommand,
} from './command-line.ts';
import { restoreObjects } from './restore-objects.ts';
import { showBlocks, showKinds, showQueue, showReports } from './show-lists.ts';
import { statusText } from './status-text.ts';
import { timelineText } from './timeline-text.ts';

/** An operator waits for the answer at a terminal. */
const SQS_TIMEOUT_MS = 5000;

/** Of one page of a listing, among other requests. */
const S3_TIMEOUT_MS = 10_000;

type ShowLine = (line: string) => void;

/** `npm run ops`. @param onProgress called with lines that a long command shows while it runs */
export function runOpsCommand(
  args: readonly string[],
  env: Environment,
  onProgress: ShowLine = () => {},
): Promise<CommandResult> {
  const run = (command: OpsCommand) => runCommand(command, env, onProgress);
  return runCommandLine({ name: 'ops', usage, parse: parseOpsCommand, run }, args, env);
}

function runCommand(command: OpsCommand, env: Environment, onProgress: ShowLine): Promise<CommandResult> {
  switch (command.kind) {
    case 'timeline':
      return withDatabase('ops', env, (db) => showTimeline(db, command.of, command.json));
    case 'status':
      return showStatus(command.json, env);
    case 'blocks':
      return withDatabase('ops', env, (db) => showBlocks(db, command.json));
    case 'pauses':
      return withDatabase('ops', env, (db) => showKinds(db, command.json));
    case 'reports':
      return command.of === null
        ? withDatabase('ops', env, (db) => showQueue(db, command.json))
        : withBucket(env, (db, store) => showReports(db, store, command.of ?? '', command.json));
    case 'count':
      return withDatabase('ops', env, (db) => count(db, command));
    case 'act':
      return withDatabase('ops', env, (db) =>
        command.action === 'retry-dead-letters'
          ? withSqs(env, (sqs, { queues }) => act(db, retryDeadLetters(sqs, queues), command, onProgress))
          : act(db, actionsOnRows[command.action](db), command, onProgress),
      );
    case 'erase':
      return withBucket(env, (db, store) => eraseUserOf(db, store, command, onProgress));
    case 'erasures':
      return withDatabase('ops', env, (db) => showErasures(db, command));
    case 'adopt-bucket':
      return withBucket(env, (db, store) => {
        const run = () => adoptBucket(db, store, command);
        return command.yes ? recordedAnswer(db, command.kind, run) : run();
      });
    case 'restore-objects':
      return withBucket(env, (db, store) =>
        recordedAnswer(db, command.kind, () => restoreObjects(db, store, command)),
      );
    default:
      return command satisfies never;
  }
}

async function act(
  db: Database,
  action: Action,
  { action: name, subject, json, ...why }: ActCommand,
  onProgress: ShowLine,
): Promise<CommandResult> {
  const by = { ...why, actor: operator() };
  const running = {
    signal: new AbortController().signal,
    onProgress: (line: string) => onProgress(`ops: ${line}`),
  };
  return await answerAndRecord(db, { ...by, action: name, subject }, async () => {
    const done = await action.do(subject, by, running);
    const shown = json ? asJson(done.json) : `${done.terminal ?? done.outcome}\n`;
    return { answer: succeeded(shown), outcome: done.outcome };
  });
}

/** For commands that are no action of the operations page, and have neither a subject nor a reason. */
async function recordedAnswer(
  db: Database,
  action: string,
  run: () => Promise<CommandResult>,
): Promise<CommandResult> {
  return await answerAndRecord(db, { actor: operator(), action, subject: '', reason: null }, async () => {
    const answer = await run();
    return { answer, outcome: answer.stdout || answer.stderr };
  });
}

/** The answer of an action whose outcome can't be recorded has a warning. */
async function answerAndRecord(
  db: Database,
  action: RecordedAction,
  run: () => Promise<{ readonly answer: CommandResult; readonly outcome: string }>,
): Promise<CommandResult> {
  let warning = '';
  const onNotRecorded = (error: unknown) => {
    warning = `ops: the outcome was not recorded: ${messageOf(error)}\n`;
  };
  const { answer } = await recorded(db, action, { run, outcomeOf: ({ outcome }) => outcome, onNotRecorded });
  return { ...answer, stderr: answer.stderr + warning };
}

/** Shows what an action on many pastes means. Exit code 1 while it means any, because they are not done. */
async function count(db: Database, { action, subject, json }: CountCommand): Promise<CommandResult> {
  const pastes = (await actionsOnRows[action](db).check(subject))?.count ?? 0;
  const [shown, text, doThem] =
    action === 'takedown-user'
      ? [
          { standing: pastes },
          `The user ${subject} has ${pastes} pastes that can be taken down`,
          'take them down',
        ]
      : [
          { retryable: pastes },
          `${pastes} FAILED pastes that failed ${subject} can be retried`,
          'retry them',
        ];
  const stdout = json ? asJson(shown) : `${text}.\n`;
  if (pastes === 0) return succeeded(stdout);
  const advice = `ops: nothing was changed. To ${doThem}, repeat the command with --yes\n`;
  return { ...failed(EXIT_FAILED, advice), stdout };
}

/** The name must match exactly, and --yes be given: an erasure can't be taken back. */
async function eraseUserOf(
  db: Database,
  store: ObjectStore,
  { of, reason, yes, json }: Extract<OpsCommand, { kind: 'erase' }>,
  onProgress: ShowLine,
): Promise<CommandResult> {
  const id = 'id' in of ? of.id : await findUserId(db, of.name);
  const meant = id === null ? null : await actionsOnRows.erase(db).check(id);
  if (id === null || meant === null)
    return failed(
      EXIT_FAILED,
      'id' in of
        ? `ops: there is no user ${of.id}, or the user is erased\n`
        : `ops: there is no user ${quote(of.name)}; the name must match exactly\n`,
    );
  const command = { kind: 'act', action: 'erase', subject: id, class: 'other', reason, json } as const;
  if (yes)
    return await act(
      db,
      erase(db, () => keptVersionsOrWhyNot(store)),
      command,
      onProgress,
    );
  const advice = 'ops: nothing was changed. To erase the user, repeat the command with --yes\n';
  return { ...failed(EXIT_FAILED, advice), stdout: json ? asJson(meant) : `${meant.sentence}\n` };
}

/** The ids alone, so that a script can erase each. They are no secret, and name nobody who is erased. */
async function showErasures(
  db: Database,
  { since, json }: Extract<OpsCommand, { kind: 'erasures' }>,
): Promise<CommandResult> {
  const erasures = await listErasures(db, since);
  if (json) return succeeded(asJson(erasures));
  return succeeded(erasures.map(({ user_id: id }) => `${id}\n`).join(''));
}

async function showTimeline(db: Database, of: string, json: boolean): Promise<CommandResult> {
  const timeline = await readSubjectTimeline(db, of);
  if (timeline === null)
    return failed(EXIT_FAILED, `ops: there is no ${isUuid(of) ? 'job' : 'paste'} ${of}\n`);
  return succeeded(json ? asJson(timeline) : timelineText(timeline));
}

async function showStatus(json: boolean, env: Environment): Promise<CommandResult> {
  const status = await withSqs(env, (sqs, config) =>
    withBucket(env, (db, store) =>
      readStatus({ db, sqs, config, keptVersions: () => keptVersionsOrWhyNot(store) }),
    ),
  );
  return succeeded(json ? asJson({ needs: needsOf(status), ...status }) : statusText(status));
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

async function withSqs<T>(
  env: Environment,
  use: (sqs: SqsClient, config: JanitorConfig) => Promise<T>,
): Promise<T> {
  const config = loadJanitorConfig(env);
  const { region, sqsEndpoint: endpoint } = config.aws;
  const sqs = createSqsClient({ region, endpoint, requestTimeoutMs: SQS_TIMEOUT_MS });
  try {
    return await use(sqs, config);
  } finally {
    sqs.destroy();
  }
}
