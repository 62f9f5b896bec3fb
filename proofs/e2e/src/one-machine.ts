import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import {
  createTestDatabase,
  spawnProgram,
  startTestPostgres,
  temporaryFolder,
  type SpawnedProcess,
  type TestPostgres,
} from '@pasteflow/dev-stack/testing';
import { ABANDONED_RECEIVE_MS, CREDENTIALS, embeddedAws, type Aws } from './aws.ts';
import { ROOT } from './entries.ts';
import { freePort } from './ports.ts';
import type { RestartableStack } from './stacks.ts';

const SETUP = join(ROOT, 'infra/one-machine');
const PROGRAMS = join(ROOT, '.pasteflow/one-machine');

const settingsOf = (file: string) =>
  parseEnv(readFileSync(join(SETUP, file), 'utf8')) as Record<string, string>;

/** The settings of the services in this edition. */
export const oneMachineSettings = (): Record<string, string> => settingsOf('services.env');

/** Installs the programs that are missing, which takes minutes the first time. */
export function installPrograms(): void {
  const { status, stderr } = spawnSync(join(SETUP, 'install-programs'), [PROGRAMS], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`infra/one-machine/install-programs failed:\n${stderr}`);
}

/** A server that a test kills, stops for a while and starts again. */
export class Program {
  readonly url: string;
  readonly #command: readonly [string, ...string[]];
  readonly #env: NodeJS.ProcessEnv;
  #process: SpawnedProcess | undefined;

  constructor(
    url: string,
    command: readonly [string, ...string[]],
    env: Readonly<Record<string, string>> = {},
  ) {
    this.url = url;
    this.#command = command;
    // oxlint-disable-next-line node/no-process-env -- what any program needs to run
    this.#env = { PATH: process.env.PATH, ...env };
  }

  get pid(): number {
    return this.#process?.pid as number;
  }

  /** Resolves when the server answers anything. */
  async start(): Promise<void> {
    this.#process = spawnProgram(this.#command, { env: this.#env });
    await this.#process.untilReady(async () => (await fetch(this.url)).status > 0);
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.#process?.kill(signal);
    await this.#process?.exited;
  }
}

/** Postgres and the S3 and SQS servers of infra/one-machine, as processes of their own. */
export class OneMachine implements RestartableStack {
  readonly databaseUrl: string;
  readonly aws: Aws;
  readonly objects: Program;
  readonly queues: Program;
  readonly #postgres: TestPostgres;
  readonly #remove: () => Promise<void>;

  private constructor(
    { databaseUrl, postgres }: { databaseUrl: string; postgres: TestPostgres },
    { objects, queues }: { objects: Program; queues: Program },
    remove: () => Promise<void>,
  ) {
    this.databaseUrl = databaseUrl;
    this.aws = {
      ...embeddedAws(objects.url),
      sqs: queues.url,
      abandonedReceiveMs: ABANDONED_RECEIVE_MS,
    };
    this.objects = objects;
    this.queues = queues;
    this.#postgres = postgres;
    this.#remove = remove;
  }

  /** @param objectsIn an existing folder for the objects. Default: a temporary one */
  static async start(objectsIn?: string): Promise<OneMachine> {
    const { dataDir, remove } = await temporaryFolder();
    const folder = objectsIn ?? dataDir;
    await mkdir(join(folder, embeddedAws('').bucket)); // a folder is a bucket
    const [objects, queues, postgres] = await Promise.all([
      versitygw(folder),
      elasticMq(),
      startTestPostgres(),
    ]);
    await Promise.all([objects.start(), queues.start()]);
    const { url: databaseUrl } = await createTestDatabase(postgres);
    return new OneMachine({ databaseUrl, postgres }, { objects, queues }, remove);
  }

  get postgresPid(): number {
    return this.#postgres.postgres.pid;
  }

  async restartPostgres(whileDown?: () => Promise<void>): Promise<void> {
    await this.#postgres.restartPostgres(whileDown);
  }

  async stop(): Promise<void> {
    await Promise.all([this.objects.kill(), this.queues.kill(), this.#postgres.stop()]);
    await this.#remove();
  }
}

/** @param versions a folder for old versions of objects. Default: the bucket keeps none */
export async function versitygw(folder: string, versions?: string): Promise<Program> {
  const address = `127.0.0.1:${await freePort()}`;
  return new Program(`http://${address}`, [join(PROGRAMS, 'versitygw'), 'posix', folder], {
    ...settingsOf('versitygw.env'),
    ...(versions !== undefined && { VGW_VERSIONING_DIR: versions }),
    VGW_PORT: address,
    ROOT_ACCESS_KEY: CREDENTIALS.accessKeyId,
    ROOT_SECRET_KEY: CREDENTIALS.secretAccessKey,
  });
}

export async function elasticMq(): Promise<Program> {
  const port = await freePort();
  return new Program(`http://127.0.0.1:${port}`, [
    'java',
    '-Xmx128m',
    '-XX:+UseSerialGC',
    `-Dconfig.file=${join(SETUP, 'elasticmq.conf')}`,
    `-Dnode-address.port=${port}`,
    `-Drest-sqs.bind-port=${port}`,
    '-cp',
    join(PROGRAMS, 'elasticmq/*'),
    'org.elasticmq.server.Main',
  ]);
}
