import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startAwsEmulator, type AwsEmulator } from '../aws/start-aws-emulator.ts';
import { startPostgres, type Postgres } from '../postgres/start-postgres.ts';
import { copyTemplateCluster } from './template-cluster.ts';
import { dropTestDatabases } from './test-database.ts';

/** A Postgres that other test files may use, too. */
export interface SharedTestStack {
  /** The URL is that of the server's default database. Tests create their own with createTestDatabase. */
  readonly postgres: Pick<Postgres, 'url' | 'port'>;
  /** Stops what this stack has started, and removes its files and its databases. */
  stop(): Promise<void>;
}

export interface TestStack extends SharedTestStack {
  readonly postgres: SharedTestStack['postgres'] & { readonly pid: number };
  /** Stops Postgres, runs `whileDown`, starts it again on the same port and data. */
  restartPostgres(whileDown?: () => Promise<void>): Promise<void>;
}

export interface TestAws {
  readonly aws: Pick<AwsEmulator, 'endpoint' | 'port' | 'region'>;
  /** Stops the emulator, runs `whileDown`, starts it again on the same port and data. */
  restartAws(whileDown?: () => Promise<void>): Promise<void>;
  /** Stops the emulator and removes its files. */
  stop(): Promise<void>;
}

export interface TestStackWithAws extends TestStack, TestAws {
  stop(): Promise<void>;
}

export interface SharedTestStackWithAws extends SharedTestStack, TestAws {
  stop(): Promise<void>;
}

export interface TestStackOptions {
  readonly aws?: boolean;
  /** An existing folder for the data of Postgres. Default: see `parentFolder`. */
  readonly postgresIn?: string | undefined;
}

/**
 * A private Postgres, and on request a private S3 and SQS, on free ports with their data in a temporary
 * folder.
 */
export function startTestStack(options: TestStackOptions & { aws: true }): Promise<TestStackWithAws>;
export function startTestStack(options?: TestStackOptions & { aws?: false }): Promise<TestStack>;
export async function startTestStack({ aws = false, postgresIn }: TestStackOptions = {}): Promise<TestStack> {
  if (!aws) return await startTestPostgres(postgresIn);
  const emulator = await startTestAws();
  try {
    const stack = await startTestPostgres(postgresIn);
    const withAws: TestStackWithAws = {
      ...stack,
      ...emulator,
      stop: async () => {
        await Promise.all([emulator.stop(), stack.stop()]);
      },
    };
    return withAws;
  } catch (error) {
    await emulator.stop();
    throw error;
  }
}

/**
 * Databases in the Postgres that the test files of a package share, which scripts/shared-postgres.mjs starts.
 * Without that Postgres, a private one. For tests that leave alone what all databases of a server share: its
 * roles, its settings, its process and its transaction numbers.
 */
export async function startSharedTestPostgres(): Promise<SharedTestStack> {
  const postgres = sharedPostgres();
  if (postgres === undefined) return await startTestStack();
  const stack = { postgres, stop: () => dropTestDatabases(stack) };
  return stack;
}

/** Databases as those of startSharedTestPostgres, and a private S3 and SQS. */
export async function startSharedTestStack(): Promise<SharedTestStackWithAws> {
  const emulator = await startTestAws();
  try {
    const stack = await startSharedTestPostgres();
    return {
      ...stack,
      ...emulator,
      stop: async () => {
        await Promise.all([emulator.stop(), stack.stop()]);
      },
    };
  } catch (error) {
    await emulator.stop();
    throw error;
  }
}

/** A private S3 and SQS without a Postgres. */
export async function startTestAws(): Promise<TestAws> {
  const { dataDir, remove } = await temporaryFolder();
  try {
    const emulator = await restartable((port) => startAwsEmulator({ dataDir, port }));
    return {
      aws: emulator.facts,
      restartAws: emulator.restart,
      stop: async () => {
        await emulator.stop();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function startTestPostgres(parent?: string): Promise<TestStack> {
  const { dataDir, remove } = await temporaryFolder(parent);
  // oxlint-disable-next-line node/no-process-env -- selects the major version for a run of all tests
  const binariesFrom = process.env.TEST_POSTGRES_FROM;
  try {
    await copyTemplateCluster(dataDir, binariesFrom);
    const postgres = await restartable((port) =>
      startPostgres({ dataDir, port, fsync: false, binariesFrom }),
    );
    return {
      postgres: postgres.facts,
      restartPostgres: postgres.restart,
      stop: async () => {
        await postgres.stop();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** An empty folder for the data of a stack. */
export async function temporaryFolder(
  parent?: string,
): Promise<{ dataDir: string; remove: () => Promise<void> }> {
  const dataDir = await mkdtemp(join(parent ?? (await parentFolder()), 'pasteflow-test-'));
  return { dataDir, remove: () => rm(dataDir, { recursive: true, force: true }) };
}

const MEMORY_FOLDER = '/dev/shm';
/** Enough for about thirty test clusters, of which four to six run at the same time. */
const MIN_FREE_BYTES = 4 * 1024 ** 3;

/**
 * TMPDIR if it is set, otherwise a folder in memory if there is enough memory, otherwise /tmp. In memory, a
 * test on Postgres takes a third less CPU time.
 */
async function parentFolder(): Promise<string> {
  // oxlint-disable-next-line node/no-process-env -- a choice of the machine's, as tmpdir() reads it
  if (process.env.TMPDIR) return tmpdir();
  const memory = await statfs(MEMORY_FOLDER).catch(() => undefined); // Linux only
  return memory !== undefined && memory.bavail * memory.bsize >= MIN_FREE_BYTES ? MEMORY_FOLDER : tmpdir();
}

interface Startable {
  port: number;
  stop(): Promise<void>;
}

interface Restartable<T> {
  facts: T;
  restart: (whileDown?: () => Promise<void>) => Promise<void>;
  stop: () => Promise<void>;
}

/** `facts` is one object for all runs: a restart updates the pid in it. */
async function restartable<T extends Startable>(
  start: (port: number) => Promise<T>,
): Promise<Restartable<T>> {
  let current = await start(0);
  const facts = { ...current };
  return {
    facts,
    restart: async (whileDown) => {
      await current.stop();
      await whileDown?.();
      current = await start(facts.port);
      Object.assign(facts, current);
    },
    stop: () => current.stop(),
  };
}

/** The Postgres that scripts/shared-postgres.mjs has started for the test files of a package. */
function sharedPostgres(): Pick<Postgres, 'url' | 'port'> | undefined {
  // oxlint-disable-next-line node/no-process-env -- how jest's global setup passes a value to the test files
  const url = process.env.TEST_SHARED_POSTGRES;
  return url === undefined ? undefined : { url, port: Number(new URL(url).port) };
}
