import { createRequire } from 'node:module';
import { join } from 'node:path';
import { BATCH, CONNECTIONS, CONSUMERS, type PeerOptions, type PeerQueue } from './peer-queue.ts';

interface Job {
  readonly text: string;
}

/** What is used of pg-boss 12. */
interface Library {
  readonly PgBoss: new (options: { connectionString: string; max: number }) => {
    on(event: 'error', listener: (error: unknown) => void): void;
    start(): Promise<unknown>;
    createQueue(name: string): Promise<void>;
    insert(name: string, jobs: readonly { data: Job }[]): Promise<unknown>;
    work(
      name: string,
      options: object,
      handler: (jobs: readonly { data: Job }[]) => Promise<unknown>,
    ): Promise<unknown>;
    offWork(name: string): Promise<void>;
  };
}

/**
 * With what its documentation says makes a worker fetch and work faster ("Workers", "Fetching jobs"): batches,
 * several workers in the process, the next fetch at once after a full batch, and no order.
 */
const FAST = {
  batchSize: BATCH,
  localConcurrency: CONSUMERS,
  pollingIntervalSeconds: 0.5,
  burstWhenBatchFull: true,
  priority: false,
  orderByCreatedOn: false,
};

export async function pgBoss({ folder, databaseUrl, put }: PeerOptions): Promise<PeerQueue> {
  const { PgBoss } = createRequire(join(folder, 'package.json'))('pg-boss') as Library;
  const boss = new PgBoss({ connectionString: databaseUrl, max: CONNECTIONS });
  boss.on('error', (error) => process.stderr.write(`${String(error)}\n`));
  await boss.start();
  await boss.createQueue('put');
  return {
    fill: async (texts) => {
      await boss.insert(
        'put',
        texts.map((text) => ({ data: { text } })),
      );
    },
    work: async () => {
      await boss.work('put', FAST, (jobs) => Promise.all(jobs.map(({ data }) => put(data.text))));
      return () => boss.offWork('put');
    },
  };
}
