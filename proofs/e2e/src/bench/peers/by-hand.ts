import { fileURLToPath } from 'node:url';
import { CreateQueueCommand, GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { spawnService } from '@pasteflow/dev-stack/testing';
import { sqsClientOf } from '../../aws.ts';
import { Rows } from '../../rows.ts';
import { cpuSecondsOf, cpuSecondsOfFamily } from '../../usage.ts';
import type { BenchCluster } from '../costs.ts';
import { createOf, randomContent } from '../load.ts';
import { shortCodesOf } from '../measure.ts';
import type { RunningPastes } from './measure-peers.ts';

const ENTRY = fileURLToPath(new URL('by-hand-main.ts', import.meta.url));

const TABLE = `
CREATE TABLE pastes (
  short_code text PRIMARY KEY,
  status varchar(20) NOT NULL DEFAULT 'IN_PROGRESS',
  s3_url text,
  created_at timestamptz NOT NULL DEFAULT now()
)`;

/** The api and the worker of by-hand-main.ts, on the stack of the cluster with a database and a queue of their own. */
export async function startByHand(cluster: BenchCluster): Promise<RunningPastes> {
  const { stack } = cluster;
  const { sqs, s3, bucket } = stack.aws;
  const database = await newDatabase(cluster);
  const client = sqsClientOf(sqs);
  const { QueueUrl = '' } = await client.send(new CreateQueueCommand({ QueueName: 'by-hand' }));
  const spawn = (role: 'api' | 'worker') =>
    spawnService({
      entry: ENTRY,
      args: [role, database, s3, sqs, bucket, QueueUrl],
      name: `${role} by hand`,
    });
  const start = async () => {
    const [api, worker] = [spawn('api'), spawn('worker')];
    const [, port] = await api.waitFor(/^listening on (\d+)$/);
    return { url: `http://127.0.0.1:${port}`, processes: [api, worker] };
  };
  let running = await start();
  const kill = async (): Promise<void> => {
    for (const process of running.processes) process.kill('SIGKILL');
    await Promise.all(running.processes.map(({ exited }) => exited));
  };
  return {
    get url() {
      return running.url;
    },
    createOf: createOf(randomContent),
    created: 201,
    pathsOf: (load) => shortCodesOf(load).map((code) => `/${code}`),
    /** A message is deleted when its paste is PROCESSED. */
    untilStored: async () => {
      const names = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'] as const;
      await cluster.until(
        () => client.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...names] })),
        ({ Attributes }) => names.every((name) => Attributes?.[name] === '0'),
        { within: 300_000 },
      );
    },
    cpuSeconds: async () =>
      (await cpuSecondsOf(running.processes.map(({ pid }) => pid))) +
      (await cpuSecondsOfFamily(await stack.postmasterPid())),
    restart: async () => {
      await kill();
      running = await start();
    },
    stop: async () => {
      await kill();
      client.destroy();
    },
  };
}

async function newDatabase({ rows, stack }: BenchCluster): Promise<string> {
  await rows.query('DROP DATABASE IF EXISTS by_hand WITH (FORCE)');
  await rows.query('CREATE DATABASE by_hand');
  const { href } = Object.assign(new URL(stack.databaseUrl), { pathname: '/by_hand' });
  const own = new Rows(href);
  await own.query(TABLE);
  await own.close();
  return href;
}
