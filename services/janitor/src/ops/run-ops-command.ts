import { createDatabase, type Database } from '@pasteflow/postgres';
import { ConfigError, EXIT_CONFIG, loadConfig, type Environment } from '@pasteflow/runtime';
import { databaseEnv } from '@pasteflow/settings';
import { createSqsClient, type SqsClient } from '@pasteflow/sqs';
import { EXIT_USAGE } from '../command-line.ts';
import { loadJanitorConfig, type JanitorConfig } from '../config.ts';
import { parseOpsCommand, usage, type OpsCommand } from './command-line.ts';
import { inWords, journeyText } from './journey-text.ts';
import { readJourney } from './read-journey.ts';
import { readStatus } from './read-status.ts';
import { retriedText, retryDeadLetters } from './retry-dead-letters.ts';
import { statusText } from './status-text.ts';

/** What goes where, and the exit code. */
export interface OpsAnswer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const EXIT_FAILED = 1;

const HINT = 'With none of it set, ops asks what `npm start` or `npm run stack` runs in another terminal.\n';

/** An operator waits at the terminal, and nobody else is kept waiting. */
const SQS_TIMEOUT_MS = 5000;

/** `npm run ops`: on stdout nothing but what was asked for, the rest on stderr. */
export async function runOpsCommand(args: readonly string[], env: Environment): Promise<OpsAnswer> {
  const command = parseOpsCommand(args);
  if (command.kind === 'help') return done(usage);
  if (command.kind === 'misused') return failed(EXIT_USAGE, `ops: ${command.message}\n\n${usage}`);
  try {
    return await act(command, env);
  } catch (error) {
    if (error instanceof ConfigError) return failed(EXIT_CONFIG, `ops: ${error.message}\n${HINT}`);
    return failed(EXIT_FAILED, `ops: ${error instanceof Error ? error.message : String(error)}\n`);
  }
}

type Action = Exclude<OpsCommand, { kind: 'help' | 'misused' }>;

async function act(command: Action, env: Environment): Promise<OpsAnswer> {
  switch (command.kind) {
    case 'timeline': {
      const { url } = loadConfig(databaseEnv, env);
      const journey = await withDatabase(url, (db) => readJourney(db, command.of));
      if (journey === null) return failed(EXIT_FAILED, `ops: there is no ${inWords(command.of)}\n`);
      return done(command.json ? jsonOf(journey) : journeyText(journey));
    }
    case 'status': {
      const config = loadJanitorConfig(env);
      const status = await withDatabase(config.database.url, (db) =>
        withSqs(config, (sqs) => readStatus({ db, sqs, config })),
      );
      return done(command.json ? jsonOf(status) : statusText(status));
    }
    case 'retry-dead-letters': {
      const config = loadJanitorConfig(env);
      const retried = await withSqs(config, (sqs) => retryDeadLetters(sqs, config.queues));
      return done(command.json ? jsonOf({ queues: retried }) : retriedText(retried));
    }
    default:
      return command satisfies never;
  }
}

async function withDatabase<T>(url: string, run: (db: Database) => Promise<T>): Promise<T> {
  const db = createDatabase({
    url,
    applicationName: 'pasteflow-ops',
    maxConnections: 2,
    onConnectionError: () => {}, // the statement that it breaks says it
  });
  try {
    return await run(db);
  } finally {
    await db.destroy();
  }
}

async function withSqs<T>({ aws }: JanitorConfig, run: (sqs: SqsClient) => Promise<T>): Promise<T> {
  const sqs = createSqsClient({
    region: aws.region,
    endpoint: aws.sqsEndpoint,
    requestTimeoutMs: SQS_TIMEOUT_MS,
  });
  try {
    return await run(sqs);
  } finally {
    sqs.destroy();
  }
}

function jsonOf(answer: object): string {
  return `${JSON.stringify(answer, null, 2)}\n`;
}

function done(stdout: string): OpsAnswer {
  return { code: 0, stdout, stderr: '' };
}

function failed(code: number, stderr: string): OpsAnswer {
  return { code, stdout: '', stderr };
}
