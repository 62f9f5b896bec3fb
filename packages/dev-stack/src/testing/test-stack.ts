import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startAwsEmulator, type AwsEmulator } from '../aws/start-aws-emulator.ts';
import { startPostgres, type Postgres } from '../postgres/start-postgres.ts';

export interface TestStack {
  /** The server's own database; tests take one of their own by createTestDatabase. */
  readonly postgres: Pick<Postgres, 'url' | 'port'> & { readonly pid: number };
  /** Stops Postgres, runs `whileDown`, starts it again on the same port and data. */
  restartPostgres(whileDown?: () => Promise<void>): Promise<void>;
  /** Stops everything and removes its files. */
  stop(): Promise<void>;
}

export interface TestStackWithAws extends TestStack {
  readonly aws: Pick<AwsEmulator, 'endpoint' | 'port' | 'region'>;
  /** Stops the emulator, runs `whileDown`, starts it again on the same port and data. */
  restartAws(whileDown?: () => Promise<void>): Promise<void>;
}

/** A private Postgres, and on request a private S3 and SQS, on free ports with their data in a temporary folder. */
export function startTestStack(options: { aws: true }): Promise<TestStackWithAws>;
export function startTestStack(options?: { aws?: false }): Promise<TestStack>;
export async function startTestStack({ aws = false }: { aws?: boolean } = {}): Promise<TestStack> {
  const dir = await mkdtemp(join(tmpdir(), 'pasteflow-test-'));
  try {
    const postgres = await restartable((port) =>
      startPostgres({
        dataDir: join(dir, 'postgres'),
        port,
        fsync: false,
        // oxlint-disable-next-line node/no-process-env -- how a run of all tests on another major version is asked for
        binariesFrom: process.env.TEST_POSTGRES_FROM,
      }),
    );
    const stack = {
      postgres: postgres.facts,
      restartPostgres: postgres.restart,
      stop: async () => {
        await postgres.stop();
        await rm(dir, { recursive: true, force: true });
      },
    };
    if (!aws) return stack;
    const emulator = await restartable((port) => startAwsEmulator({ dataDir: join(dir, 'aws'), port })).catch(
      async (error: unknown) => {
        await postgres.stop();
        throw error;
      },
    );
    const withAws: TestStackWithAws = {
      ...stack,
      aws: emulator.facts,
      restartAws: emulator.restart,
      stop: async () => {
        await emulator.stop();
        await stack.stop();
      },
    };
    return withAws;
  } catch (error) {
    await rm(dir, { recursive: true, force: true });
    throw error;
  }
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

/** `facts` stays one object, so that what a restart changes (the pid) shows in it. */
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
