import { createDatabase } from '@pasteflow/postgres';
import {
  groups,
  httpUrl,
  loadConfig,
  logEnv,
  PollLoop,
  runService,
  setting,
  type Component,
  type ServiceContext,
} from '@pasteflow/runtime';
import { awsEnv, databaseEnv } from '@pasteflow/service-kit';
import { ConsumerGroup, createQueue, createSqsClient, deadLetterQueueName } from '@pasteflow/sqs';
import type { z } from 'zod';
import { decodeMessage } from './message.ts';
import { sendEmail } from './send-email.ts';
import { sweep } from './sweep.ts';

const QUEUE = 'emails';
const SWEEP_INTERVAL_MS = 1000;
/** Longer than an attempt takes, so that no message comes back while its e-mail is being sent. */
const VISIBILITY_SECONDS = 10;

const configSchema = groups({
  log: logEnv,
  database: databaseEnv,
  aws: awsEnv,
  mailUrl: setting('MAIL_URL', httpUrl('https://mail.example.com/send')),
});

type Config = z.output<typeof configSchema>;

await runService({
  name: 'email-worker',
  env: process.env,
  loadConfig: (env) => loadConfig(configSchema, env),
  compose,
});

/** The parts, in the order in which they start. They stop in reverse order. */
function compose({ config, instance, logger }: ServiceContext<Config>): readonly Component[] {
  const db = createDatabase({
    ...config.database,
    applicationName: instance, // the audit trail names it
    maxConnections: config.database.poolSize,
    onConnectionError: (error) => logger.warn('connection to Postgres lost', { error }),
  });
  const { region, sqsEndpoint: endpoint } = config.aws;
  const sqs = createSqsClient({ region, endpoint });
  const receiving = createSqsClient({ region, endpoint }); // a long poll holds a connection
  const queue = createQueue(sqs, QUEUE);
  const consumers = new ConsumerGroup({
    client: receiving,
    queue,
    deadLetterQueue: createQueue(sqs, deadLetterQueueName(QUEUE)),
    consumers: 4,
    batchSize: 1,
    visibilitySeconds: VISIBILITY_SECONDS,
    decode: decodeMessage,
    handle: async (deliveries) => {
      try {
        for (const { body } of deliveries)
          await sendEmail({ db, logger, mailUrl: config.mailUrl }, body.emailId);
        return deliveries;
      } catch (error) {
        logger.error('message returned', { error });
        return [];
      }
    },
    beforeReceive: () => Promise.resolve(),
    onMalformed: (error) => logger.error('malformed message', { error }),
    onError: (error) => logger.warn('SQS does not answer', { error }),
  });
  return [
    {
      name: 'connections',
      start: () => Promise.resolve(),
      stop: async () => {
        await db.destroy();
        sqs.destroy();
        receiving.destroy();
      },
    },
    new PollLoop({
      name: 'sweep',
      intervalMs: SWEEP_INTERVAL_MS,
      run: () => sweep(db, sqs, queue),
      onError: (error) => logger.warn('sweep failed', { error }),
    }),
    {
      name: 'consumers',
      start: () => Promise.resolve(consumers.start()),
      stop: () => consumers.stop(),
    },
  ];
}
