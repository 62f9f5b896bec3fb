import {
  createTestDatabase,
  spawnService,
  startTestPostgres,
  startTestStack,
  type SpawnedProcess,
  type TestPostgres,
} from '@pasteflow/dev-stack/testing';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { embeddedAws, externalEndpoints, makeOwnAws, type Aws, type OwnAws } from './aws.ts';
import { STACK_ENTRY, MIGRATE_ENTRY } from './entries.ts';
import { freePort } from './ports.ts';

/**
 * Postgres, S3 and SQS for a cluster of services. Postgres is always embedded; S3 and SQS are those at
 * AWS_ENDPOINT_URL, if set.
 */
export interface Stack {
  /** The URL of a migrated database. */
  readonly databaseUrl: string;
  readonly aws: Aws;
  stop(): Promise<void>;
}

/**
 * A stack whose embedded parts run in this process, by default with Postgres without fsync: this stack starts
 * faster than a StackProcess.
 */
export interface RestartableStack extends Stack, Pick<TestPostgres, 'restartPostgres'> {
  /** The pid of the current postmaster. */
  readonly postgresPid: number;
}

export async function startStack({
  postgresIn,
  fsync,
  migrated = true,
}: {
  readonly postgresIn?: string;
  readonly fsync?: boolean;
  readonly migrated?: boolean;
} = {}): Promise<RestartableStack> {
  const endpoints = externalEndpoints();
  if (endpoints === undefined) {
    const stack = await startTestStack({ postgresIn, fsync });
    return await restartable(stack, migrated, embeddedAws(stack.aws.endpoint), () => stack.stop());
  }
  const [stack, aws] = await Promise.all([startTestPostgres({ postgresIn, fsync }), makeOwnAws(endpoints)]);
  return await restartable(stack, migrated, aws, async () => {
    await Promise.all([stack.stop(), aws.remove()]);
  });
}

async function restartable(
  stack: TestPostgres,
  migrated: boolean,
  aws: Aws,
  stop: () => Promise<void>,
): Promise<RestartableStack> {
  const { url } = await createTestDatabase(stack, { migrated });
  return {
    databaseUrl: url,
    aws,
    get postgresPid() {
      return stack.postgres.pid;
    },
    restartPostgres: (whileDown) => stack.restartPostgres(whileDown),
    stop,
  };
}

/**
 * `npm run stack` as a separate process, which a test can kill together with Postgres and the emulator, and
 * start again on their data. An S3 and SQS at AWS_ENDPOINT_URL keep running, as AWS does when a machine
 * fails.
 */
export class StackProcess implements Stack {
  readonly dataDir: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #postmasterPidFile: string;
  readonly #ownAws: OwnAws | undefined;
  #process: SpawnedProcess | undefined;
  databaseUrl = '';
  aws = embeddedAws('');

  private constructor(dataDir: string, env: Readonly<Record<string, string>>, ownAws: OwnAws | undefined) {
    this.dataDir = dataDir;
    this.#ownAws = ownAws;
    this.#postmasterPidFile = join(dataDir, 'postgres/cluster/postmaster.pid');
    this.#env = env;
  }

  static async start(): Promise<StackProcess> {
    const dataDir = await mkdtemp(join(tmpdir(), 'pasteflow-e2e-'));
    const endpoints = externalEndpoints();
    const env = {
      PASTEFLOW_DATA_DIR: dataDir,
      STACK_POSTGRES_PORT: String(await freePort()),
      STACK_AWS_PORT: String(await freePort()),
    };
    const ownAws = endpoints === undefined ? undefined : await makeOwnAws(endpoints);
    const stack = new StackProcess(dataDir, env, ownAws);
    await stack.start();
    await migrate(stack.databaseUrl);
    return stack;
  }

  /** The process in which the emulator runs. */
  get pid(): number {
    if (this.#process === undefined) throw new Error('the stack has not been started');
    return this.#process.pid;
  }

  async postmasterPid(): Promise<number> {
    const [pid = ''] = (await readFile(this.#postmasterPidFile, 'utf8')).split('\n');
    return Number(pid);
  }

  /** Starts the stack, also after a kill, on the same ports and data. */
  async start(): Promise<void> {
    this.#process = spawnService({ entry: STACK_ENTRY, env: { ...this.#env }, name: 'stack' });
    await this.#process.waitFor(/Ctrl-C stops/);
    const file = parseEnv(await readFile(join(this.dataDir, 'stack.env'), 'utf8'));
    this.databaseUrl = file.DATABASE_URL ?? '';
    this.aws = this.#ownAws ?? embeddedAws(file.AWS_ENDPOINT_URL ?? '');
  }

  /**
   * Sends SIGKILL to the stack, and to its Postgres, which would otherwise shut down cleanly. Resolves when
   * the stack has ended.
   */
  async kill(): Promise<void> {
    const postmaster = await this.postmasterPid();
    this.#process?.kill('SIGKILL');
    process.kill(postmaster, 'SIGKILL');
    await this.#process?.exited;
  }

  async stop(): Promise<void> {
    await this.#process?.stop();
    await this.#ownAws?.remove();
    await rm(this.dataDir, { recursive: true, force: true });
  }
}

/** Runs `npm run migrate` on the database. */
async function migrate(databaseUrl: string): Promise<void> {
  const process = spawnService({ entry: MIGRATE_ENTRY, env: { DATABASE_URL: databaseUrl }, name: 'migrate' });
  const { code } = await process.exited;
  if (code !== 0) throw new Error(`the migration ended with ${code}:\n${process.stderr.join('\n')}`);
}
