import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { DEFAULT_QUEUES } from './aws/queues.ts';
import { DEFAULT_BUCKET, DEFAULT_REGION } from './aws/start-aws-emulator.ts';
import { StackError } from './stack-error.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface StackConfig {
  /** An absolute path. Postgres and the emulator each have a folder in it. */
  dataDir: string;
  postgresPort: number;
  awsPort: number;
  region: string;
  bucket: string;
  uploadQueue: string;
  jobQueue: string;
  /** False when DATABASE_URL is set. */
  embeddedPostgres: boolean;
  /** False when an AWS endpoint is set, or PASTEFLOW_STACK=aws selects AWS itself. */
  embeddedAws: boolean;
}

export interface StartConfig extends StackConfig {
  api: Address;
  metricsHost: string;
  /** The ports of api, upload-worker and janitor: METRICS_PORT and the next two, or three times 0. */
  metricsPorts: readonly [number, number, number];
  /** Of the operations page: OPS_PORT, or the one after those of the metrics. */
  operations: Address;
}

export interface Address {
  host: string;
  /** 0: any free port. */
  port: number;
}

export const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Reads the configuration. An empty value counts as unset.
 * @throws StackError `configuration` that lists every problem
 */
export function readStackConfig(env: Environment): StackConfig {
  return checked((problems) => stackConfig(env, problems));
}

export function readStartConfig(env: Environment): StartConfig {
  return checked((problems) => {
    const metricsPort = port(env, 'METRICS_PORT', 9464, problems);
    return {
      ...stackConfig(env, problems),
      api: { host: env.API_HOST || '127.0.0.1', port: port(env, 'API_PORT', 3000, problems) },
      metricsHost: env.METRICS_HOST || '127.0.0.1',
      operations: {
        host: env.OPS_HOST || '127.0.0.1',
        port: port(env, 'OPS_PORT', metricsPort === 0 ? 0 : metricsPort + 3, problems),
      },
      metricsPorts: metricsPort === 0 ? [0, 0, 0] : [metricsPort, metricsPort + 1, metricsPort + 2],
    };
  });
}

/** @returns an absolute path; PASTEFLOW_DATA_DIR is relative to the repository */
export function dataDirOf(env: Environment): string {
  return resolve(REPOSITORY, env.PASTEFLOW_DATA_DIR?.trim() || '.pasteflow');
}

function stackConfig(env: Environment, problems: string[]): StackConfig {
  const { PASTEFLOW_STACK: stack = '' } = env;
  if (stack !== '' && stack !== 'aws')
    problems.push(`PASTEFLOW_STACK is "${stack}"; set it to aws, or unset it`);
  return {
    dataDir: dataDirOf(env),
    postgresPort: port(env, 'STACK_POSTGRES_PORT', 54_329, problems),
    awsPort: port(env, 'STACK_AWS_PORT', 4566, problems),
    region: env.AWS_REGION || DEFAULT_REGION,
    bucket: env.S3_BUCKET || DEFAULT_BUCKET,
    uploadQueue: env.UPLOAD_QUEUE_NAME || DEFAULT_QUEUES.uploads,
    jobQueue: env.JOB_QUEUE_NAME || DEFAULT_QUEUES.jobs,
    embeddedPostgres: !env.DATABASE_URL,
    embeddedAws:
      stack !== 'aws' && !env.AWS_ENDPOINT_URL && !env.AWS_ENDPOINT_URL_S3 && !env.AWS_ENDPOINT_URL_SQS,
  };
}

function port(env: Environment, name: string, fallback: number, problems: string[]): number {
  const text = env[name] || String(fallback);
  const value = Number(text);
  if (/^\d+$/.test(text) && value <= 65_535) return value;
  problems.push(`${name} is "${text}"; set it to a port from 0 to 65535 (0: any free port)`);
  return fallback;
}

function checked<T>(read: (problems: string[]) => T): T {
  const problems: string[] = [];
  const config = read(problems);
  if (problems.length > 0)
    throw new StackError('configuration', `Wrong configuration: ${problems.join('; ')}.`);
  return config;
}

/**
 * `stack.env` in the data folder, which a shell or `node --env-file` can read. It exists while the embedded
 * stack runs.
 */
export function stackFileIn(dataDir: string): string {
  return join(dataDir, 'stack.env');
}

/**
 * Only its owner can read the file: it has the database's password. No value needs quotes: they are URLs,
 * names and numbers.
 */
export function writeStackFile(file: string, environment: Readonly<Record<string, string>>): void {
  const lines = Object.entries(environment).map(([name, value]) => `${name}=${value}\n`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, lines.join(''), { mode: 0o600 });
}

/** @returns null when there is no such file, or it can't be read: either way its stack can't be used */
export function readStackFile(file: string): Environment | null {
  try {
    return parseEnv(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}

export function removeStackFile(file: string): void {
  rmSync(file, { force: true });
}
