export const stages = ['development', 'staging', 'production'] as const;
export type Stage = (typeof stages)[number];

/** A Fargate task's size: 1024 units are a core. */
export interface TaskSize {
  readonly cpu: number;
  readonly memoryMiB: number;
}

export interface ScaledTask extends TaskSize {
  readonly least: number;
  readonly most: number;
}

export interface DatabaseConfiguration {
  /** Without `db.`: r8g.large. */
  readonly instance: string;
  /** What that instance has: max_connections follows from it. */
  readonly memoryGiB: number;
  readonly multiAz: boolean;
  readonly storageGiB: number;
  readonly mostStorageGiB: number;
  readonly backupDays: number;
  /** Null: the instance that the data stack makes. After a restore, the restored one's address: docs/deploy.md has the way there and back. */
  readonly host: string | null;
}

/** Settings that follow from what the stacks make: nobody else sets them. */
export const derivedSettings = [
  'NODE_ENV',
  'NODE_EXTRA_CA_CERTS',
  'DATABASE_URL',
  'PGHOST',
  'PGPORT',
  'PGUSER',
  'PGPASSWORD',
  'PASTEFLOW_API_PASSWORD',
  'PASTEFLOW_WORKER_PASSWORD',
  'PASTEFLOW_JANITOR_PASSWORD',
  'DATABASE_POOL_SIZE',
  'PASTEFLOW_STACK',
  'AWS_REGION',
  'S3_BUCKET',
  'UPLOAD_QUEUE_NAME',
  'JOB_QUEUE_NAME',
  'API_HOST',
  'API_PORT',
  'METRICS_HOST',
  'METRICS_PORT',
] as const;

/** Variables of .env.example, and OTEL_…; no secrets, which who may look at a task definition could read. */
export type Settings = Readonly<Record<string, string>> & {
  readonly [Name in (typeof derivedSettings)[number]]?: never;
};

export type ServiceName = 'api' | 'upload-worker' | 'janitor';

/** One deployment. Each stage belongs into an account of its own; two in one account don't get into each other's way. */
export interface Configuration {
  readonly stage: Stage;
  readonly region: string;
  /** Named, so that a synthesis asks nobody. */
  readonly availabilityZones: readonly string[];
  /** Null: plain HTTP at the load balancer's own name, for development alone. */
  readonly domain: { readonly name: string; readonly certificateArn: string } | null;
  readonly natGateways: number;
  readonly database: DatabaseConfiguration;
  readonly api: ScaledTask & {
    /** Requests a minute for each task: above, there are more. */
    readonly requestsPerTask: number;
  };
  readonly uploadWorker: ScaledTask & {
    /** Waiting messages for each task: above, there are more. */
    readonly backlogPerTask: number;
    /** Waiting jobs for each task: above, there are more. */
    readonly jobsPerTask: number;
  };
  readonly janitor: TaskSize;
  /** What else the services read; `all` goes for each of them, and its own go before that. */
  readonly environment: Readonly<Record<'all' | ServiceName, Settings>>;
  /** Connections of a process, `DATABASE_POOL_SIZE`. */
  readonly poolSize: number;
  readonly logDays: number;
  /** Database, bucket and stacks can't be deleted by mistake. */
  readonly protect: boolean;
  readonly alarmEmail: string | null;
}

/** Two do: one at a time sweeps, and the other takes over within SWEEP_LOCK_IDLE_SECONDS. */
export const JANITORS = 2;

/** Beside its pool a janitor has a connection for each sweep that runs, 8 today; some are to come. */
const JANITOR_LOCKS = 16;

/** Beside its pool an upload-worker has two for each of the jobs that it runs: CONNECTIONS_A_JOB of its compose-jobs.ts. */
const CONNECTIONS_A_JOB = 2;
const DEFAULT_JOB_CONCURRENCY = 2;

/** psql, the migration, RDS' own. */
const OTHER_CONNECTIONS = 20;

/** All connections at full scale; while a deployment replaces them, tasks are there twice. */
export function mostConnections({ api, uploadWorker, poolSize, environment }: Configuration): number {
  const { JOB_CONCURRENCY: concurrency = DEFAULT_JOB_CONCURRENCY } = {
    ...environment.all,
    ...environment['upload-worker'],
  };
  const tasks =
    api.most * poolSize +
    uploadWorker.most * (poolSize + Number(concurrency) * CONNECTIONS_A_JOB) +
    JANITORS * (poolSize + JANITOR_LOCKS);
  return 2 * tasks + OTHER_CONNECTIONS;
}

/** RDS' default for PostgreSQL: a connection for each 9,531,392 bytes, 5000 at most. */
export function connectionsAllowed({ database }: Configuration): number {
  return Math.min(5000, Math.floor((database.memoryGiB * 2 ** 30) / 9_531_392));
}
