import type { Configuration, Stage } from './configuration.ts';

/*
 * The source of the numbers. A worker runs up to 50 puts at the same time (UPLOAD_CONCURRENCY 4, batches of 10, and 10 spare places). If S3
 * takes 100 ms for a put, that is 500 pastes a second at most. 500 waiting messages for each task are two or three seconds of work. An upload must be settled
 * within a minute, and a new task takes about a minute to start. An api task with one core serves about a thousand requests a second;
 * 30,000 a minute are half of that.
 */
const REQUESTS_PER_TASK = 30_000;
const BACKLOG_PER_TASK = 500;
/**
 * A job may take minutes, and a worker runs two at the same time (JOB_CONCURRENCY). Four waiting jobs are two
 * rounds.
 */
const JOBS_PER_TASK = 4;

/**
 * ECS renews a task's credentials five minutes before they expire. A presigned URL expires with the
 * credentials that signed it.
 */
const environment: Configuration['environment'] = {
  all: {},
  api: { ASSET_URL_SECONDS: '300' },
  'upload-worker': {},
  janitor: {},
};

const development: Configuration = {
  stage: 'development',
  region: 'eu-central-1',
  availabilityZones: ['eu-central-1a', 'eu-central-1b'],
  architecture: 'x86_64',
  domain: null,
  natGateways: 1,
  database: {
    instance: 't4g.small',
    memoryGiB: 2,
    multiAz: false,
    storageGiB: 20,
    maxStorageGiB: 50,
    backupDays: 1,
    host: null,
  },
  api: { cpu: 256, memoryMiB: 512, min: 1, max: 2, requestsPerTask: REQUESTS_PER_TASK },
  uploadWorker: {
    cpu: 256,
    memoryMiB: 512,
    min: 1,
    max: 2,
    backlogPerTask: BACKLOG_PER_TASK,
    jobsPerTask: JOBS_PER_TASK,
  },
  janitor: { cpu: 256, memoryMiB: 512 },
  environment,
  oidcClientSecretArn: null,
  webhookKeyArn: null,
  operations: { via: 'tunnel' },
  poolSize: 5,
  logDays: 7,
  protect: false,
  alarmEmail: null,
};

const staging: Configuration = {
  ...development,
  stage: 'staging',
  domain: {
    name: 'paste.staging.example.org',
    certificateArn: 'arn:aws:acm:eu-central-1:111111111111:certificate/00000000-0000-0000-0000-000000000000',
  },
  database: {
    instance: 't4g.medium',
    memoryGiB: 4,
    multiAz: true,
    storageGiB: 20,
    maxStorageGiB: 100,
    backupDays: 7,
    host: null,
  },
  api: { ...development.api, min: 2, max: 4 },
  uploadWorker: { ...development.uploadWorker, min: 2, max: 4 },
  logDays: 14,
  protect: true,
};

const production: Configuration = {
  stage: 'production',
  region: 'eu-central-1',
  availabilityZones: ['eu-central-1a', 'eu-central-1b', 'eu-central-1c'],
  architecture: 'x86_64',
  domain: {
    name: 'paste.example.org',
    certificateArn: 'arn:aws:acm:eu-central-1:222222222222:certificate/00000000-0000-0000-0000-000000000000',
  },
  natGateways: 3,
  database: {
    instance: 'r8g.large',
    memoryGiB: 16,
    multiAz: true,
    storageGiB: 100,
    maxStorageGiB: 1000,
    backupDays: 14,
    host: null,
  },
  api: { cpu: 1024, memoryMiB: 2048, min: 3, max: 12, requestsPerTask: REQUESTS_PER_TASK },
  uploadWorker: {
    cpu: 1024,
    memoryMiB: 2048,
    min: 2,
    max: 20,
    backlogPerTask: BACKLOG_PER_TASK,
    jobsPerTask: JOBS_PER_TASK,
  },
  janitor: { cpu: 512, memoryMiB: 1024 },
  environment,
  oidcClientSecretArn: null,
  webhookKeyArn: null,
  operations: { via: 'tunnel' },
  poolSize: 10,
  logDays: 30,
  protect: true,
  alarmEmail: 'operators@example.org',
};

export const configurations: Readonly<Record<Stage, Configuration>> = { development, staging, production };
