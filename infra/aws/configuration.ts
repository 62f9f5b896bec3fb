import { RemovalPolicy } from 'aws-cdk-lib';

export const stages = ['development', 'staging', 'production'] as const;
export type Stage = (typeof stages)[number];

/** A Fargate task's size: 1024 units are a core. */
export interface TaskSize {
  readonly cpu: number;
  readonly memoryMiB: number;
}

export interface ScaledTask extends TaskSize {
  readonly min: number;
  readonly max: number;
}

export interface DatabaseConfiguration {
  /** Without `db.`: r8g.large. */
  readonly instance: string;
  /** The memory of that instance, from which max_connections follows. */
  readonly memoryGiB: number;
  readonly multiAz: boolean;
  readonly storageGiB: number;
  readonly maxStorageGiB: number;
  readonly backupDays: number;
  /**
   * Null: the instance that the data stack creates. After a restore, the address of the restored instance:
   * see docs/deploy.md.
   */
  readonly host: string | null;
}

/**
 * Where operators reach the operations page. It never has a public address.
 *
 * - `tunnel`: the page listens on the loopback address of each janitor's task, which has a second container
 * for the port forwarding of
 *   Session Manager.
 * - `balancer`: an internal load balancer serves the page over HTTPS within the VPC, and to what is connected
 * with it.
 */
export type OperationsConfiguration =
  | { readonly via: 'tunnel' }
  | {
      readonly via: 'balancer';
      /**
       * `OPS_URL`: the address in a browser, with a path if the page has one. Its name must lead to the
       * output `OperationsAddress`.
       */
      readonly url: string;
      readonly certificateArn: string;
      /** The networks of the operators, such as `10.8.0.0/16`. Nobody else reaches the load balancer. */
      readonly clients: readonly string[];
      /** The secret whose whole text is `OPS_OIDC_CLIENT_SECRET`, as with `oidcClientSecretArn`. */
      readonly oidcClientSecretArn?: string;
    };

/** Settings that only the stacks set, because they follow from the resources, or because they are secrets. */
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
  'OIDC_CLIENT_SECRET',
  'WEBHOOK_KEY',
  'OPS_HOST',
  'OPS_PORT',
  'OPS_URL',
  'OPS_TOKEN',
  'OPS_READ_TOKEN',
  'OPS_OIDC_CLIENT_SECRET',
] as const;

/**
 * Variables of .env.example, and OTEL_…. No secrets: everybody who may read a task definition could read
 * them.
 */
export type Settings = Readonly<Record<string, string>> & {
  readonly [Name in (typeof derivedSettings)[number]]?: never;
};

export type ServiceName = 'api' | 'upload-worker' | 'janitor';

/** One deployment. Each stage should have its own account; two stages in one account don't interfere. */
export interface Configuration {
  readonly stage: Stage;
  readonly region: string;
  /** Given here, so that a synthesis makes no request. */
  readonly availabilityZones: readonly string[];
  /** Of all tasks. The images of a release are for both. */
  readonly architecture: 'x86_64' | 'arm64';
  /** Null: plain HTTP at the load balancer's own name, for development only. */
  readonly domain: { readonly name: string; readonly certificateArn: string } | null;
  readonly natGateways: number;
  readonly database: DatabaseConfiguration;
  readonly api: ScaledTask & {
    /** Requests a minute for each task. Above this value, tasks are added. */
    readonly requestsPerTask: number;
  };
  readonly uploadWorker: ScaledTask & {
    /** Waiting messages for each task. Above this value, tasks are added. */
    readonly backlogPerTask: number;
    /** Waiting jobs for each task. Above this value, tasks are added. */
    readonly jobsPerTask: number;
  };
  readonly janitor: TaskSize;
  /** Further settings. `all` applies to each service; a service's own settings take precedence. */
  readonly environment: Readonly<Record<'all' | ServiceName, Settings>>;
  /**
   * The secret in Secrets Manager whose whole text is `OIDC_CLIENT_SECRET`, by its complete ARN, in the
   * region of the stage. The identity provider makes the text, so that an operator creates the secret. Null:
   * the api is a public client, or nobody signs in by a provider.
   */
  readonly oidcClientSecretArn: string | null;
  /**
   * The secret in Secrets Manager whose whole text is `WEBHOOK_KEY`, by its complete ARN, in the region of the stage. It
   * must outlive the stacks: with another key every endpoint has another secret. Null: webhooks are off.
   */
  readonly webhookKeyArn: string | null;
  /** Null: there is no operations page. */
  readonly operations: OperationsConfiguration | null;
  /** `DATABASE_POOL_SIZE`: the connections of a process. */
  readonly poolSize: number;
  readonly logDays: number;
  /** Database, bucket and stacks can't be deleted by mistake. */
  readonly protect: boolean;
  readonly alarmEmail: string | null;
}

/** Two are enough: one runs the sweeps, and the other takes over within five seconds. */
export const JANITORS = 2;

/** Besides its pool, a janitor has a connection for its lock. */
const JANITOR_LOCKS = 1;

/**
 * Besides its pool, an upload-worker has two connections for each job that it runs: CONNECTIONS_A_JOB in
 * compose-jobs.ts.
 */
const CONNECTIONS_A_JOB = 2;
const DEFAULT_JOB_CONCURRENCY = 2;

/** Connections of psql, of the migration and of RDS itself. */
const OTHER_CONNECTIONS = 20;

/** All connections at full scale. During a deployment, each task exists twice. */
export function maxConnections({ api, uploadWorker, poolSize, environment }: Configuration): number {
  const { JOB_CONCURRENCY: concurrency = DEFAULT_JOB_CONCURRENCY } = {
    ...environment.all,
    ...environment['upload-worker'],
  };
  const tasks =
    api.max * poolSize +
    uploadWorker.max * (poolSize + Number(concurrency) * CONNECTIONS_A_JOB) +
    JANITORS * (poolSize + JANITOR_LOCKS);
  return 2 * tasks + OTHER_CONNECTIONS;
}

/** The default of RDS for PostgreSQL: one connection for each 9,531,392 bytes, at most 5000. */
export function connectionsAllowed({ database }: Configuration): number {
  return Math.min(5000, Math.floor((database.memoryGiB * 2 ** 30) / 9_531_392));
}

/**
 * A protected resource stays when its stack is deleted. It does not stay when the creation of its stack
 * failed: it is empty then, and its name would block the next attempt.
 */
export function removalPolicy({ protect }: Configuration): RemovalPolicy {
  return protect ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY;
}
