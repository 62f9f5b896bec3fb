import { createRequire } from 'node:module';
import { join } from 'node:path';
import { BATCH, CONNECTIONS, CONSUMERS, type PeerOptions, type PeerQueue } from './peer-queue.ts';

interface Job {
  readonly text: string;
}

/** What is used of graphile-worker 0.18. */
interface Library {
  makeWorkerUtils(options: { preset: object }): Promise<{
    migrate(): Promise<void>;
    addJobs(jobs: readonly { identifier: string; payload: Job }[]): Promise<unknown>;
  }>;
  run(options: {
    preset: object;
    taskList: { put: (job: Job) => Promise<void> };
  }): Promise<{ stop(): Promise<void> }>;
  readonly Logger: new (factory: () => () => void) => unknown;
}

/**
 * With the settings of the fastest run in its documentation ("Performance"): a local queue of 500, and ends
 * in batches without delay. Its starting point of 250 ms waits for up to 250 ms at the end.
 */
export async function graphileWorker({ folder, databaseUrl, put }: PeerOptions): Promise<PeerQueue> {
  const library = createRequire(join(folder, 'package.json'))('graphile-worker') as Library;
  const preset = {
    worker: {
      connectionString: databaseUrl,
      concurrentJobs: CONSUMERS * BATCH,
      maxPoolSize: CONNECTIONS,
      localQueue: { size: 500 },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
      logger: new library.Logger(() => () => {}), // it would write a line for each job
    },
  };
  const utils = await library.makeWorkerUtils({ preset });
  await utils.migrate();
  return {
    fill: async (texts) =>
      void (await utils.addJobs(texts.map((text) => ({ identifier: 'put', payload: { text } })))),
    work: async () => {
      const runner = await library.run({ preset, taskList: { put: ({ text }) => put(text) } });
      return () => runner.stop();
    },
  };
}
