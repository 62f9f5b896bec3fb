import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import {
  spawnService,
  startTestStack,
  type SpawnedService,
  type TestStackWithAws,
} from '@pasteflow/dev-stack/testing';
import { STACK_ENTRY } from './entries.ts';
import { freePort } from './ports.ts';

/** Postgres, S3 and SQS under a cluster of services. */
export interface Stack {
  readonly databaseUrl: string;
  /** Of S3 and SQS. */
  readonly awsEndpoint: string;
  stop(): Promise<void>;
}

/** The quick one: the emulator in this process, Postgres without fsync. Either can be restarted gracefully. */
export interface EmbeddedStack extends Stack, Pick<TestStackWithAws, 'restartPostgres' | 'restartAws'> {
  /** The postmaster's, at present. */
  readonly postgresPid: number;
}

export async function startEmbeddedStack(): Promise<EmbeddedStack> {
  const stack = await startTestStack({ aws: true });
  return {
    databaseUrl: stack.postgres.url,
    awsEndpoint: stack.aws.endpoint,
    get postgresPid() {
      return stack.postgres.pid;
    },
    restartPostgres: (whileDown) => stack.restartPostgres(whileDown),
    restartAws: (whileDown) => stack.restartAws(whileDown),
    stop: () => stack.stop(),
  };
}

/** `npm run stack` as a process of its own, which can be killed: Postgres goes with it, and finds its data again. */
export class StackProcess implements Stack {
  readonly #env: Readonly<Record<string, string>>;
  readonly #dataDir: string;
  readonly #postmasterPidFile: string;
  #process: SpawnedService | undefined;
  databaseUrl = '';
  awsEndpoint = '';

  private constructor(dataDir: string, env: Readonly<Record<string, string>>) {
    this.#dataDir = dataDir;
    this.#postmasterPidFile = join(dataDir, 'postgres/cluster/postmaster.pid');
    this.#env = env;
  }

  static async start(): Promise<StackProcess> {
    const dataDir = await mkdtemp(join(tmpdir(), 'pasteflow-e2e-'));
    const stack = new StackProcess(dataDir, {
      PASTEFLOW_DATA_DIR: dataDir,
      STACK_POSTGRES_PORT: String(await freePort()),
      STACK_AWS_PORT: String(await freePort()),
    });
    await stack.start();
    return stack;
  }

  /** Again, after a kill: the same ports and data. */
  async start(): Promise<void> {
    this.#process = spawnService({ entry: STACK_ENTRY, env: { ...this.#env }, name: 'stack' });
    await this.#process.waitFor(/Ctrl-C stops/, 60_000);
    const file = parseEnv(await readFile(join(this.#dataDir, 'stack.env'), 'utf8'));
    this.databaseUrl = file.DATABASE_URL ?? '';
    this.awsEndpoint = file.AWS_ENDPOINT_URL ?? '';
  }

  /** SIGKILL, to its Postgres too, which would else shut down in good order; resolves when the process is gone. */
  async kill(): Promise<void> {
    const [postmaster = ''] = (await readFile(this.#postmasterPidFile, 'utf8')).split('\n');
    this.#process?.kill('SIGKILL');
    process.kill(Number(postmaster), 'SIGKILL');
    await this.#process?.exited;
  }

  async stop(): Promise<void> {
    await this.#process?.stop(30_000);
    await rm(this.#dataDir, { recursive: true, force: true });
  }
}
