/** A job queue in Postgres, as the benchmark uses it. */
export interface Peer {
  fill(contents: readonly string[]): Promise<void>;
  /**
   * Works on so many jobs, up to 40 at a time, as one upload-worker does. Resolves when their ends are in
   * Postgres.
   */
  work(count: number, put: (content: string) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

/** As one upload-worker: `UPLOAD_CONCURRENCY` times a batch, and `DATABASE_POOL_SIZE`. */
const CONSUMERS = 4;
const BATCH = 10;
const CONNECTIONS = 10;

interface Job {
  readonly content: string;
}

/** What is used of graphile-worker 0.18. */
interface GraphileWorker {
  makeWorkerUtils(options: { connectionString: string }): Promise<{
    migrate(): Promise<void>;
    addJobs(jobs: readonly { identifier: string; payload: Job }[]): Promise<unknown>;
    release(): Promise<void>;
  }>;
  run(options: {
    connectionString: string;
    concurrency: number;
    maxPoolSize: number;
    noHandleSignals: boolean;
    logger: unknown;
    taskList: { put: (job: Job) => Promise<void> };
  }): Promise<{ stop(): Promise<void> }>;
  readonly Logger: new (factory: () => () => void) => unknown;
}

export async function graphileWorker(library: unknown, connectionString: string): Promise<Peer> {
  const graphile = library as GraphileWorker;
  const utils = await graphile.makeWorkerUtils({ connectionString });
  await utils.migrate();
  return {
    fill: async (contents) =>
      void (await utils.addJobs(contents.map((content) => ({ identifier: 'put', payload: { content } })))),
    work: async (count, put) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      let left = count;
      const runner = await graphile.run({
        connectionString,
        concurrency: CONSUMERS * BATCH,
        maxPoolSize: CONNECTIONS,
        noHandleSignals: true,
        logger: new graphile.Logger(() => () => {}), // it would write a line for each job
        taskList: {
          put: async ({ content }) => {
            await put(content);
            left -= 1;
            if (left === 0) resolve();
          },
        },
      });
      await promise;
      await runner.stop();
    },
    close: () => utils.release(),
  };
}

/** What is used of pg-boss 12. */
interface PgBossLibrary {
  readonly PgBoss: new (options: { connectionString: string; max: number }) => {
    start(): Promise<unknown>;
    createQueue(name: string): Promise<void>;
    insert(name: string, jobs: readonly { data: Job }[]): Promise<unknown>;
    fetch(name: string, options: { batchSize: number }): Promise<readonly { id: string; data: Job }[]>;
    complete(name: string, ids: readonly string[]): Promise<unknown>;
    stop(): Promise<void>;
  };
}

/** Fetches without a pause: its workers would wait half a second between two batches. */
export async function pgBoss(library: unknown, connectionString: string): Promise<Peer> {
  const { PgBoss } = library as PgBossLibrary;
  const boss = new PgBoss({ connectionString, max: CONNECTIONS });
  await boss.start();
  await boss.createQueue('put');
  return {
    fill: async (contents) =>
      void (await boss.insert(
        'put',
        contents.map((content) => ({ data: { content } })),
      )),
    work: async (_count, put) => {
      const consume = async (): Promise<void> => {
        for (;;) {
          const jobs = await boss.fetch('put', { batchSize: BATCH });
          if (jobs.length === 0) return;
          await Promise.all(jobs.map(({ data }) => put(data.content)));
          await boss.complete(
            'put',
            jobs.map(({ id }) => id),
          );
        }
      };
      await Promise.all(Array.from({ length: CONSUMERS }, consume));
    },
    close: () => boss.stop(),
  };
}
