import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../entries.ts';
import { cpuSecondsOf, cpuSecondsOfFamily } from '../../usage.ts';
import type { BenchCluster } from '../costs.ts';
import { createOf, makeLoad, randomText } from '../load.ts';
import { measureCreates, shortCodesOf, untilSettled } from '../measure.ts';
import type { Contender } from './comparison.ts';
import { checkpoint, JOBS, WARM_UP, type ReadyWorker } from './measure-jobs.ts';
import type { RunningPastes } from './measure-pastes.ts';

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
const installed = { name: 'Pasteflow', version, install: () => Promise.resolve() };
const requestOf = createOf(() => Buffer.from(randomText()));

/** One upload-worker, with the api and the janitor that it needs. Their CPU time counts too. */
export function uploadWorker(cluster: BenchCluster): Contender<ReadyWorker> {
  const signal = (name: NodeJS.Signals): void => cluster.workers.forEach((worker) => worker.signal(name));
  const start = async (): Promise<ReadyWorker> => {
    await checkpoint(cluster);
    await startServices(cluster);
    try {
      await measureCreates(cluster, { count: WARM_UP, requestOf });
      signal('SIGSTOP');
      await makeLoad(cluster.http().url, { count: JOBS, expected: 201, requestOf });
      await cluster.rows.query('ANALYZE');
    } catch (error) {
      await stopServices(cluster);
      throw error;
    }
    return {
      pids: cluster.services.map(({ pid }) => pid),
      begin: () => signal('SIGCONT'),
      untilDone: () => untilSettled(cluster),
      stop: () => stopServices(cluster),
    };
  };
  return { ...installed, lacks: 'work without SQS', start };
}

/** All three services and Postgres. What the emulator of S3 and SQS uses does not count. */
export function pasteflow(cluster: BenchCluster): Contender<RunningPastes> {
  const start = async (): Promise<RunningPastes> => {
    await startServices(cluster);
    return {
      url: cluster.http().url,
      createOf: requestOf,
      created: 201,
      pathsOf: (load) => shortCodesOf(load).map((code) => `/${code}`),
      untilStored: () => untilSettled(cluster),
      cpuSeconds: async () =>
        (await cpuSecondsOf(cluster.services.map(({ pid }) => pid))) +
        (await cpuSecondsOfFamily(await cluster.stack.postmasterPid())),
      restart: async () => {
        await stopServices(cluster);
        await startServices(cluster);
      },
      stop: () => stopServices(cluster),
    };
  };
  return {
    ...installed,
    lacks: 'run without Postgres, S3 and SQS (those two are not counted); each create waits for the disk',
    start,
  };
}

async function startServices(cluster: BenchCluster): Promise<void> {
  try {
    await Promise.all(cluster.services.map((service) => service.start()));
  } catch (error) {
    await stopServices(cluster);
    throw error;
  }
}

export async function stopServices(cluster: BenchCluster): Promise<void> {
  await Promise.all(cluster.services.map((service) => service.kill()));
}
