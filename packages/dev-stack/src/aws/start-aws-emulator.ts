import { resolve } from 'node:path';
import type { FauxqsServer } from 'fauxqs';
import { lockFolder } from '../folder-lock.ts';
import { portError, takePort } from '../ports.ts';
import { StackError } from '../stack-error.ts';
import {
  DEFAULT_QUEUES,
  EMULATOR_ACCOUNT,
  queueDefinitions,
  type QueueDefinition,
  type QueueNames,
  resources,
} from './queues.ts';

export interface AwsEmulator {
  /** One endpoint for S3 and SQS. */
  endpoint: string;
  port: number;
  region: string;
  stop(): Promise<void>;
}

export const DEFAULT_BUCKET = resources.bucket.name;
export const DEFAULT_REGION = 'us-east-1';

/**
 * Starts S3 and SQS on 127.0.0.1 in this process, with state on disk, and creates the bucket and the queues.
 * Acknowledged changes survive a kill -9 of the process, since the operating system has them; a power cut may
 * lose the last moments.
 * @throws StackError when the emulator cannot start
 */
export async function startAwsEmulator(options: {
  /** Created if missing; holds queues, messages and objects in one SQLite file, and the lock. */
  dataDir: string;
  /** 0 or absent: any free port. */
  port?: number;
  bucket?: string;
  /** Each gets a dead-letter queue `<name>-dead-letters`. */
  queues?: QueueNames;
  region?: string;
}): Promise<AwsEmulator> {
  const { port = 0, bucket = DEFAULT_BUCKET, queues = DEFAULT_QUEUES, region = DEFAULT_REGION } = options;
  const dataDir = resolve(options.dataDir);
  const definitions = queueDefinitions(queues, region);
  const lock = lockFolder(dataDir);
  try {
    // The emulator itself listens on a free port, so that no other program can take the port in between.
    if (port !== 0) await takePort({ port, setting: 'STACK_AWS_PORT' });
    const server = await listen(dataDir, port, { region, queues: definitions, buckets: [bucket] });
    try {
      const endpoint = `http://127.0.0.1:${server.port}`;
      for (const definition of definitions)
        await bringUpToDate(server, endpoint, definition, { region, dataDir });
      return {
        endpoint,
        port: server.port,
        region,
        stop: async () => {
          await server.stop();
          lock.release();
        },
      };
    } catch (error) {
      await server.stop();
      throw error;
    }
  } catch (error) {
    lock.release();
    throw error;
  }
}

interface Init {
  region: string;
  queues: QueueDefinition[];
  buckets: string[];
}

/** fauxqs creates missing queues and buckets, and does not change existing ones. Its request log is off. */
async function listen(dataDir: string, port: number, init: Init): Promise<FauxqsServer> {
  const { startFauxqs } = await import('fauxqs'); // 350 modules, which a test without S3 and SQS does not load
  try {
    return await startFauxqs({ port, dataDir, init, logger: false, defaultRegion: init.region });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EADDRINUSE')
      throw portError({ port, setting: 'STACK_AWS_PORT' }, cause);
    throw new StackError(
      'aws-emulator-failed',
      `The S3 and SQS emulator can't start with the data in ${dataDir} (${(cause as Error).message}). Move that folder away to start with an empty one.`,
      { cause },
    );
  }
}

/**
 * Updates the attributes of a queue that an earlier version created. The region of a queue is part of its ARN
 * and cannot change.
 */
async function bringUpToDate(
  server: FauxqsServer,
  endpoint: string,
  { name, attributes }: QueueDefinition,
  { region, dataDir }: { region: string; dataDir: string },
): Promise<void> {
  const queue = server.inspectQueue(name);
  const madeIn = queue?.arn.split(':')[3];
  if (madeIn !== region)
    throw new StackError(
      'configuration',
      `The data in ${dataDir} belongs to region ${madeIn}, and AWS_REGION is ${region}. Set AWS_REGION=${madeIn}, or move that folder away to start with an empty one.`,
    );
  const current = queue?.attributes ?? {};
  if (Object.entries(attributes).every(([key, value]) => current[key] === value)) return;
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': 'AmazonSQS.SetQueueAttributes' },
    body: JSON.stringify({ QueueUrl: `${endpoint}/${EMULATOR_ACCOUNT}/${name}`, Attributes: attributes }),
  });
  if (!response.ok)
    throw new StackError(
      'aws-emulator-failed',
      `The emulator refuses the attributes of queue ${name} (${await response.text()}). Move the folder ${dataDir} away to start with an empty one.`,
    );
}
