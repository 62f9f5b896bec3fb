import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startAwsEmulator, type AwsEmulator } from '../aws/start-aws-emulator.ts';
import { startPostgres, type Postgres } from '../postgres/start-postgres.ts';
import { copyTemplateCluster, dropTestDatabases } from './test-database.ts';

/** A Postgres that other test files may use, too. */
export interface SharedTestPostgres {
  /** The URL is that of the server's default database. Tests create their own with createTestDatabase. */
  readonly postgres: Pick<Postgres, 'url' | 'port'>;
  /** Stops what was started, and removes its files and its databases. */
  stop(): Promise<void>;
}

export interface TestPostgres extends SharedTestPostgres {
  readonly postgres: SharedTestPostgres['postgres'] & { readonly pid: number };
  /** Stops Postgres, runs `whileDown`, starts it again on the same port and data. */
  restartPostgres(whileDown?: () => Promise<void>): Promise<void>;
}

export interface TestAws {
  readonly aws: Pick<AwsEmulator, 'endpoint' | 'port' | 'region'>;
  /** Stops the emulator and removes its files. */
  stop(): Promise<void>;
}

export type TestStack = TestPostgres & TestAws;
export type SharedTestStack = SharedTestPostgres & TestAws;

/** A private Postgres, S3 and SQS on free ports, with their data in temporary folders. */
export async function startTestStack(options: TestPostgresOptions = {}): Promise<TestStack> {
  return await withTestAws(() => startTestPostgres(options));
}

/** Databases as those of startSharedTestPostgres, and a private S3 and SQS. */
export async function startSharedTestStack(): Promise<SharedTestStack> {
  return await withTestAws(startSharedTestPostgres);
}

async function withTestAws<P extends SharedTestPostgres>(
  startPostgres: () => Promise<P>,
): Promise<P & TestAws> {
  const emulator = await startTestAws();
  try {
    const postgres = await startPostgres();
    const stop = async (): Promise<void> => {
      await Promise.all([emulator.stop(), postgres.stop()]);
    };
    return { ...postgres, ...emulator, stop };
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
export async function startSharedTestPostgres(): Promise<SharedTestPostgres> {
  // oxlint-disable-next-line node/no-process-env -- how jest's global setup passes a value to the test files
  const url = process.env.TEST_SHARED_POSTGRES;
  if (url === undefined) return await startTestPostgres();
  const shared = {
    postgres: { url, port: Number(new URL(url).port) },
    stop: () => dropTestDatabases(shared),
  };
  return shared;
}

/** A private S3 and SQS without a Postgres. */
export async function startTestAws(): Promise<TestAws> {
  const { dataDir, remove } = await temporaryFolder();
  try {
    const aws = await startAwsEmulator({ dataDir, port: 0 });
    const stop = async (): Promise<void> => {
      await aws.stop();
      await remove();
    };
    return { aws, stop };
  } catch (error) {
    await remove();
    throw error;
  }
}

interface TestPostgresOptions {
  /** An existing folder for the data of Postgres. Default: see `parentFolder`. */
  readonly postgresIn?: string | undefined;
  /** Default: false, for speed. */
  readonly fsync?: boolean | undefined;
}

/** A private Postgres. */
export async function startTestPostgres({
  postgresIn,
  fsync = false,
}: TestPostgresOptions = {}): Promise<TestPostgres> {
  const { dataDir, remove } = await temporaryFolder(postgresIn);
  // oxlint-disable-next-line node/no-process-env -- selects the major version for a run of all tests
  const binariesFrom = process.env.TEST_POSTGRES_FROM;
  const start = (port: number): Promise<Postgres> => startPostgres({ dataDir, port, fsync, binariesFrom });
  try {
    await copyTemplateCluster(dataDir, binariesFrom);
    let current = await start(0);
    const postgres = { ...current }; // one object for all runs: a restart updates the pid in it
    return {
      postgres,
      restartPostgres: async (whileDown) => {
        await current.stop();
        await whileDown?.();
        current = await start(postgres.port);
        Object.assign(postgres, current);
      },
      stop: async () => {
        await current.stop();
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

/** Calls SQS directly, for requests that our own clients never send. */
export async function callSqs<T>(
  endpoint: string,
  action: string,
  name: string,
  body: object = {},
): Promise<T> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `AmazonSQS.${action}` },
    body: JSON.stringify({ QueueUrl: `${endpoint}/000000000000/${name}`, ...body }),
  });
  if (!response.ok) throw new Error(`${action}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}
