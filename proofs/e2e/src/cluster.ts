import { createClient, type ClientOptions, type PasteflowClient } from '@pasteflow/client';
import {
  FaultProxy,
  TcpProxy,
  urlOfService,
  spawnService,
  until,
  type UntilOptions,
  writeHouseFile,
} from '@pasteflow/dev-stack/testing';
import { CREDENTIALS } from './aws.ts';
import { Bucket } from './bucket.ts';
import { type ServiceName, OPS_ENTRY, ROOT } from './entries.ts';
import { findViolations } from './find-violations.ts';
import { Http, Load, type LoadOptions } from './http.ts';
import { freePort } from './ports.ts';
import { Queues } from './queues.ts';
import { Rows, type ExecutionRow, type PasteRow, makeToken, type Credentials } from './rows.ts';
import { Service, type StartOptions } from './service.ts';
import { startStack, type RestartableStack, type Stack } from './stacks.ts';

export interface ClusterOptions<S extends Stack = RestartableStack> {
  /** The number of instances of each service. Default: 1. */
  readonly apis?: number;
  readonly workers?: number;
  readonly janitors?: number;
  /** Added to the default environment of every service. */
  readonly env?: Readonly<Record<string, string>>;
  /** What the services' house.json says. Default: there is none. */
  readonly house?: object;
  /** The files beside it, by their names. */
  readonly logos?: Readonly<Record<string, string>>;
  /** The folder of another version, whose services are started. Default: this one. */
  readonly checkout?: string;
  /** Stopped with the cluster. Default: a new stack. */
  readonly stack?: S;
  /** false: the proxies record no requests. Default: true. */
  readonly keepRequests?: boolean;
}

export interface ClientChoice extends Omit<ClientOptions, 'baseUrl'> {
  /** The index of the api. Default: 0. */
  readonly api?: number;
}

/** A client with a user's token. */
export interface User extends PasteflowClient, Credentials {}

/**
 * Running services on a stack of their own, with access to everything that they use. Each test or test file
 * has its own cluster.
 */
export class Cluster<S extends Stack = RestartableStack> {
  readonly stack: S;
  readonly services: Service[] = [];
  /** The proxies between the services and S3, SQS and Postgres, in which a test injects faults. */
  readonly s3: FaultProxy;
  readonly sqs: FaultProxy;
  readonly postgres: TcpProxy;
  /** Direct access, without the proxies. */
  readonly rows: Rows;
  readonly bucket: Bucket;
  readonly queues: Queues;
  readonly #env: Readonly<Record<string, string>>;
  readonly #removeHouse: () => Promise<void>;
  readonly #loads: Load<unknown>[] = [];

  constructor(
    stack: S,
    proxies: { s3: FaultProxy; sqs: FaultProxy; postgres: TcpProxy },
    env: Readonly<Record<string, string>>,
    removeHouse: () => Promise<void>,
  ) {
    this.stack = stack;
    this.s3 = proxies.s3;
    this.sqs = proxies.sqs;
    this.postgres = proxies.postgres;
    this.rows = new Rows(stack.databaseUrl);
    this.bucket = new Bucket(stack.aws);
    this.queues = new Queues(stack.aws);
    this.#env = env;
    this.#removeHouse = removeHouse;
  }

  get apis(): Service[] {
    return this.services.filter(({ name }) => name === 'api');
  }

  get workers(): Service[] {
    return this.services.filter(({ name }) => name === 'upload-worker');
  }

  get janitors(): Service[] {
    return this.services.filter(({ name }) => name === 'janitor');
  }

  /** A client of an api. Anonymous without a token. */
  client({ api, ...options }: ClientChoice = {}): PasteflowClient {
    return createClient({ baseUrl: this.http(api).url, ...options });
  }

  /** A client with a token of the user with this name, who is created if missing. */
  async user(name: string, choice: ClientChoice = {}): Promise<User> {
    const credentials = await makeToken(this.rows, name);
    return { ...this.client({ ...choice, token: credentials.token }), ...credentials };
  }

  /** An api as plain HTTP. */
  http(api = 0): Http {
    return new Http(`http://127.0.0.1:${this.apis[api]?.env.API_PORT}`);
  }

  /** Starts one more instance. */
  async add(
    name: ServiceName,
    env: Readonly<Record<string, string>> = {},
    options?: StartOptions,
  ): Promise<Service> {
    const ports = { METRICS_PORT: String(await freePort()), API_PORT: String(await freePort()) };
    const service = new Service(name, { ...this.environment(name), ...ports, ...env });
    this.services.push(service);
    await service.start(options);
    return service;
  }

  /** Starts a `Load`, which ends with the cluster at the latest. */
  load<T>(act: (n: number) => Promise<T>, options?: LoadOptions): Load<T> {
    const load = new Load(act, options);
    this.#loads.push(load);
    return load;
  }

  /**
   * The environment of a service in this cluster, without its ports. The service connects to Postgres as its
   * own role.
   */
  environment(service: ServiceName): Record<string, string> {
    const { DATABASE_URL: databaseUrl = this.postgres.through(this.stack.databaseUrl) } = this.#env;
    return {
      AWS_ENDPOINT_URL_S3: this.s3.url,
      AWS_ENDPOINT_URL_SQS: this.sqs.url,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
      S3_BUCKET: this.bucket.name,
      UPLOAD_QUEUE_NAME: this.stack.aws.queues.uploads,
      JOB_QUEUE_NAME: this.stack.aws.queues.jobs,
      LOG_FORMAT: 'json',
      ...this.#env,
      DATABASE_URL: urlOfService(databaseUrl, service),
    };
  }

  /** The row of a paste. Rejects when the paste does not exist. */
  async paste(shortCode: string): Promise<PasteRow> {
    const [paste] = await this.rows.query<PasteRow>('SELECT * FROM pastes WHERE short_code = $1', [
      shortCode,
    ]);
    if (paste === undefined) throw new Error(`there is no paste ${shortCode}`);
    return paste;
  }

  /** The attempts at a paste's upload, oldest first. */
  async executions(shortCode: string): Promise<ExecutionRow[]> {
    return await this.rows.query<ExecutionRow>(
      `SELECT e.* FROM task_executions e JOIN pastes p ON p.id = e.subject_id
       WHERE p.short_code = $1 ORDER BY e.created_at, e.id`,
      [shortCode],
    );
  }

  /** The attempts at a job, oldest first. */
  async jobExecutions(jobId: string): Promise<ExecutionRow[]> {
    return await this.rows.query<ExecutionRow>(
      'SELECT * FROM task_executions WHERE subject_id = $1 ORDER BY created_at, id',
      [jobId],
    );
  }

  /** The transitions of a paste and its executions, oldest first: `['task_execution PENDING RUNNING', …]`. */
  async transitions(shortCode: string): Promise<string[]> {
    const rows = await this.rows.query<{ step: string }>(
      `SELECT machine || ' ' || "from" || ' ' || "to" AS step FROM state_transitions
       WHERE entity IN (
         SELECT id FROM pastes WHERE short_code = $1
         UNION SELECT e.id FROM task_executions e JOIN pastes p ON p.id = e.subject_id WHERE p.short_code = $1)
       ORDER BY at, id`,
      [shortCode],
    );
    return rows.map(({ step }) => step);
  }

  /** Matches the S3 requests of one paste. */
  objectPath(shortCode: string): RegExp {
    return new RegExp(`^/${this.bucket.name}/pastes/${shortCode}(\\?|$)`);
  }

  /** Like `until`. A failure shows the last log lines of every service. */
  async until<T>(
    probe: () => T | Promise<T>,
    accept?: (value: T) => boolean | void,
    options: UntilOptions = {},
  ): Promise<T> {
    const evidence = () => this.services.map((service) => service.tail()).join('\n');
    return await until(probe, accept, { evidence, ...options });
  }

  async untilStatus(shortCode: string, status: string, options?: UntilOptions): Promise<PasteRow> {
    return await this.until(
      () => this.paste(shortCode),
      (paste) => paste.status === status,
      options,
    );
  }

  /**
   * Waits until no work is open, S3 holds exactly the objects that the tables name, and every transition was
   * legal.
   */
  async expectQuiet(options?: UntilOptions): Promise<void> {
    await this.until(
      () => findViolations(this),
      (problems) => problems.length === 0,
      options,
    );
  }

  /** Kills the services and removes the stack. The tests of stopping.faults.ts stop services gracefully. */
  async stop(): Promise<void> {
    await Promise.all(this.services.map((service) => service.kill()));
    // A load fails here when its test failed before it could stop the load; the stack must be removed even
    // so.
    await Promise.allSettled(this.#loads.map((load) => load.stop()));
    await this.rows.close();
    this.bucket.close();
    this.queues.close();
    await Promise.all([this.s3.stop(), this.sqs.stop(), this.postgres.stop(), this.#removeHouse()]);
    await this.stack.stop();
  }
}

/** Starts a migrated stack, the proxies in front of it, and the services. */
export async function startCluster<S extends Stack>(
  options: ClusterOptions<S> & { stack: S },
): Promise<Cluster<S>>;
export async function startCluster(options?: ClusterOptions): Promise<Cluster>;
export async function startCluster({
  apis = 1,
  workers = 1,
  janitors = 1,
  env = {},
  house,
  logos,
  checkout = ROOT,
  stack: given,
  keepRequests = true,
}: ClusterOptions<Stack> = {}): Promise<Cluster<Stack>> {
  const stack = given ?? (await startStack());
  const [s3, sqs, postgres] = await Promise.all([
    FaultProxy.start(stack.aws.s3, { keepRequests }),
    FaultProxy.start(stack.aws.sqs, { keepRequests }),
    TcpProxy.start(Number(new URL(stack.databaseUrl).port)),
  ]);
  const houseFile = house && (await writeHouseFile(house, logos));
  const cluster = new Cluster(
    stack,
    { s3, sqs, postgres },
    { ...(houseFile && { HOUSE: houseFile.path }), ...env },
    async () => await houseFile?.remove(),
  );
  try {
    const names: ServiceName[] = [
      ...Array<ServiceName>(apis).fill('api'),
      ...Array<ServiceName>(workers).fill('upload-worker'),
      ...Array<ServiceName>(janitors).fill('janitor'),
    ];
    await Promise.all(names.map((name) => cluster.add(name, {}, { checkout })));
    return cluster;
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

/**
 * Runs `npm run ops -- …` in the cluster as a process.
 * @returns its output. Rejects when the exit code isn't 0.
 */
export async function runOps(cluster: Cluster<Stack>, ...args: string[]): Promise<string> {
  const ops = spawnService({ entry: OPS_ENTRY, args, env: cluster.environment('janitor'), name: 'ops' });
  const { code } = await ops.exited;
  if (code !== 0) throw new Error(`ops ${args.join(' ')} ended with ${code}: ${ops.stderr.join('\n')}`);
  return `${ops.stdout.join('\n')}\n`;
}
