import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawnProgram, spawnService, type SpawnedProcess } from '@pasteflow/dev-stack/testing';
import { CREDENTIALS } from '../../aws.ts';
import { installed } from '../../programs.ts';
import { Rows } from '../../rows.ts';
import type { BenchCluster } from '../costs.ts';
import { type Contender, VERSIONS } from './comparison.ts';
import { checkpoint, JOBS, type ReadyWorker, WARM_UP_JOBS } from './measure-peers.ts';

const START_LIMIT_MS = 180_000;
const ROUND_LIMIT_MS = 300_000;

interface JobPeer extends Pick<Contender<ReadyWorker>, 'name' | 'version' | 'lacks'> {
  /** @returns the folder */
  readonly install: () => Promise<string>;
  /** Starts its worker, with arguments as node-worker-main.ts has them. */
  readonly spawn: (folder: string, args: string[]) => SpawnedProcess;
  /** Finds a job that has not ended. */
  readonly openJob: string;
}

const sourceOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

const spawnNode = (name: string, folder: string, args: string[]): SpawnedProcess =>
  spawnService({
    entry: sourceOf('node-worker-main.ts'),
    args: [name, folder, ...args],
    env: { AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId, AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey },
    name,
  });

const fromNpm = (name: 'graphile-worker' | 'pg-boss') => ({
  name,
  version: VERSIONS[name],
  install: () =>
    installed(`${name}-${VERSIONS[name]}`, (folder) => [
      ['npm', 'install', '--prefix', folder, '--ignore-scripts', '--no-audit', `${name}@${VERSIONS[name]}`],
    ]),
  spawn: (folder: string, args: string[]) => spawnNode(name, folder, args),
});

const RIVER = sourceOf('river.go');
const RIVER_MODULES = [
  `github.com/riverqueue/river@v${VERSIONS.River}`,
  `github.com/riverqueue/river/rivermigrate@v${VERSIONS.River}`,
  `github.com/riverqueue/river/riverdriver/riverpgxv5@v${VERSIONS.River}`,
  `github.com/aws/aws-sdk-go-v2/aws/signer/v4@v${VERSIONS['aws-sdk-go-v2']}`,
];

const peers: readonly JobPeer[] = [
  {
    name: 'skip-locked',
    version: 'a bare loop',
    lacks: 'keep records, retry a failed put; a transaction stays open during each put',
    install: () => Promise.resolve(''),
    spawn: (folder, args) => spawnNode('skip-locked', folder, args),
    openJob: 'SELECT FROM jobs LIMIT 1',
  },
  {
    ...fromNpm('graphile-worker'),
    lacks: 'keep records of done jobs, fence a late worker, take over from a crashed worker within 4 hours',
    openJob: 'SELECT FROM graphile_worker._private_jobs LIMIT 1',
  },
  {
    ...fromNpm('pg-boss'),
    lacks:
      'record transitions, take over from a crashed worker within 15 minutes, unless jobs have heartbeats',
    openJob: `SELECT FROM pgboss.job WHERE name = 'put' AND state < 'completed' LIMIT 1`,
  },
  {
    name: 'River',
    version: VERSIONS.River,
    lacks: 'record transitions, fence a late worker, take over from a crashed worker within an hour',
    install: () => {
      const source = hash('sha256', readFileSync(RIVER), 'hex').slice(0, 12);
      return installed(`river-${VERSIONS.River}-${source}`, (folder) => [
        ['cp', RIVER, join(folder, 'main.go')],
        ['go', 'mod', 'init', 'peer'],
        ['go', 'get', ...RIVER_MODULES],
        ['go', 'build', '-o', 'worker', '.'],
      ]);
    },
    spawn: (folder, args) => spawnProgram([join(folder, 'worker'), ...args]),
    openJob: `SELECT FROM river_job WHERE state <> 'completed' LIMIT 1`,
  },
];

/** Other queues in Postgres, whose workers put the same into the same S3. */
export const jobPeers = (cluster: BenchCluster): readonly Contender<ReadyWorker>[] =>
  peers.map((peer) => contenderOf(cluster, peer));

function contenderOf(cluster: BenchCluster, { install, ...peer }: JobPeer): Contender<ReadyWorker> {
  let folder = '';
  return {
    ...peer,
    install: async () => void (folder = await install()),
    start: () => start(cluster, peer, folder),
  };
}

/** In a database of its own, which is new in each round. */
async function start(
  cluster: BenchCluster,
  { name, spawn, openJob }: Omit<JobPeer, 'install'>,
  folder: string,
): Promise<ReadyWorker> {
  await cluster.rows.query('DROP DATABASE IF EXISTS peer WITH (FORCE)');
  await cluster.rows.query('CREATE DATABASE peer');
  await checkpoint(cluster);
  const url = new URL(cluster.stack.databaseUrl);
  url.pathname = '/peer';
  const { s3, bucket } = cluster.stack.aws;
  const rows = new Rows(url.href);
  const worker = spawn(folder, [url.href, s3, bucket, String(WARM_UP_JOBS), String(JOBS)]);
  const stop = async (): Promise<void> => {
    worker.kill('SIGKILL');
    await Promise.all([worker.exited, rows.close()]);
  };
  try {
    await worker.waitFor(/^filled$/, START_LIMIT_MS);
    await rows.query('ANALYZE');
  } catch (error) {
    await stop().catch(() => {});
    throw error;
  }
  const noJobIsOpen = (): Promise<unknown> =>
    cluster.until(
      () => rows.query(openJob),
      ({ length }) => length === 0,
      { within: ROUND_LIMIT_MS, evidence: () => worker.stderr.slice(-5).join('\n') },
    );
  const ended = worker.exited.then(() => {
    throw new Error(`${name} ended: ${worker.stderr.slice(-5).join('\n')}`);
  });
  ended.catch(() => {}); // it is killed in the end
  return {
    pids: [worker.pid],
    begin: () => worker.kill('SIGUSR2'),
    untilDone: () => Promise.race([noJobIsOpen(), ended]),
    stop,
  };
}
