import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_QUEUES } from './aws/queues.ts';
import { type AwsEmulator, DEFAULT_BUCKET, startAwsEmulator } from './aws/start-aws-emulator.ts';
import { createServiceRoles } from './postgres/service-roles.ts';
import type { Report } from './stack-error.ts';
import { removeStackFile, type StackConfig, stackFileIn, writeStackFile } from './stack-config.ts';
import { type Postgres, type PostgresOptions, startPostgres } from './postgres/start-postgres.ts';

export interface EmbeddedStack {
  /**
   * The variables with which a service uses the stack: AWS_ENDPOINT_URL and others. DATABASE_URL is that of
   * the superuser: see urlOfService.
   */
  environment: Record<string, string>;
  /** A file with the same variables for a shell or `node --env-file`. It exists while the stack runs. */
  envFile: string;
  stop(): Promise<void>;
}

export interface StackParts {
  postgres: boolean;
  aws: boolean;
}

/**
 * Starts the requested parts, with their data in `dataDir`.
 * @throws StackError after stopping the parts that had started
 */
export async function startEmbeddedStack(
  config: StackConfig,
  parts: StackParts,
  report: Report,
): Promise<EmbeddedStack> {
  const { dataDir, bucket, uploadQueue, jobQueue } = config;
  const envFile = stackFileIn(dataDir);
  const environment: Record<string, string> = {};
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const stopPart of stops.splice(0).toReversed()) await stopPart();
  };
  try {
    if (parts.postgres) {
      const postgres = await keepPostgresUp(
        { dataDir: join(dataDir, 'postgres'), port: config.postgresPort },
        report,
      );
      stops.push(() => postgres.stop());
      await createServiceRoles(postgres.url);
      environment.DATABASE_URL = postgres.url;
    }
    if (parts.aws) {
      const emulator = await startAwsEmulator({
        dataDir: join(dataDir, 'aws'),
        port: config.awsPort,
        bucket,
        queues: { uploads: uploadQueue, jobs: jobQueue },
        region: config.region,
      });
      stops.push(() => emulator.stop());
      Object.assign(environment, awsEnvironment(emulator, { bucket, uploadQueue, jobQueue }));
    }
    if (stops.length > 0) {
      writeStackFile(envFile, environment);
      stops.push(async () => removeStackFile(envFile));
    }
    return { environment, envFile, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The variables with which the AWS SDK and the services use the emulator, which accepts any credentials. */
function awsEnvironment(
  emulator: Pick<AwsEmulator, 'endpoint' | 'region'>,
  names: { bucket?: string; uploadQueue?: string; jobQueue?: string } = {},
): Record<string, string> {
  return {
    AWS_ENDPOINT_URL: emulator.endpoint,
    AWS_REGION: emulator.region,
    AWS_ACCESS_KEY_ID: 'pasteflow',
    AWS_SECRET_ACCESS_KEY: 'pasteflow',
    S3_BUCKET: names.bucket ?? DEFAULT_BUCKET,
    UPLOAD_QUEUE_NAME: names.uploadQueue ?? DEFAULT_QUEUES.uploads,
    JOB_QUEUE_NAME: names.jobQueue ?? DEFAULT_QUEUES.jobs,
  };
}

const RESTART_AFTER_MS = 1000;

/** Like startPostgres, and restarts the server on the same port whenever it ends without `stop()`. */
async function keepPostgresUp(
  options: PostgresOptions,
  report: Report,
): Promise<Pick<Postgres, 'url' | 'port' | 'stop'>> {
  let current = await startPostgres(options);
  const again = { ...options, port: current.port };
  const stopping = new AbortController();

  const watch = async () => {
    while (!stopping.signal.aborted) {
      await current.exited;
      if (stopping.signal.aborted) return;
      report('Postgres ended unexpectedly; restarting');
      await current.stop(); // releases the lock on the data folder
      await sleep(RESTART_AFTER_MS, undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted) return;
      current = await startPostgres(again).catch((error: Error) => {
        report(error.message);
        return current; // This server has ended, so the next round tries again.
      });
    }
  };
  const watched = watch();
  return {
    url: current.url,
    port: current.port,
    stop: async () => {
      stopping.abort();
      await current.stop();
      await watched;
      await current.stop(); // A restart under way may have started another server.
    },
  };
}
