import type { Configuration, Stage } from './configuration.ts';

/*
 * Where the numbers come from: a worker has 40 puts under way at once (UPLOAD_CONCURRENCY 4, of 10); against an S3 that takes
 * 100 ms a put that is 400 pastes a second at best. 500 waiting messages a task are two or three seconds of work, well
 * inside the minute in which an upload has to be settled while new tasks take about one to start. An api task of one core
 * carries some thousand requests a second; 30,000 a minute are half of that.
 */
const REQUESTS_PER_TASK = 30_000;
const BACKLOG_PER_TASK = 500;
/** A job may take minutes, and a worker runs two at a time (JOB_CONCURRENCY): four that wait are two rounds. */
const JOBS_PER_TASK = 4;

/** A task's credentials are renewed five minutes before their end, with which the URLs end that they signed. */
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
  domain: null,
  natGateways: 1,
  database: {
    instance: 't4g.small',
    memoryGiB: 2,
    multiAz: false,
    storageGiB: 20,
    mostStorageGiB: 50,
    backupDays: 1,
    host: null,
  },
  api: { cpu: 256, memoryMiB: 512, least: 1, most: 2, requestsPerTask: REQUESTS_PER_TASK },
  uploadWorker: {
    cpu: 256,
    memoryMiB: 512,
    least: 1,
    most: 2,
    backlogPerTask: BACKLOG_PER_TASK,
    jobsPerTask: JOBS_PER_TASK,
  },
  janitor: { cpu: 256, memoryMiB: 512 },
  environment,
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
    mostStorageGiB: 100,
    backupDays: 7,
    host: null,
  },
  api: { ...development.api, least: 2, most: 4 },
  uploadWorker: { ...development.uploadWorker, least: 2, most: 4 },
  logDays: 14,
  protect: true,
};

const production: Configuration = {
  stage: 'production',
  region: 'eu-central-1',
  availabilityZones: ['eu-central-1a', 'eu-central-1b', 'eu-central-1c'],
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
    mostStorageGiB: 1000,
    backupDays: 14,
    host: null,
  },
  api: { cpu: 1024, memoryMiB: 2048, least: 3, most: 12, requestsPerTask: REQUESTS_PER_TASK },
  uploadWorker: {
    cpu: 1024,
    memoryMiB: 2048,
    least: 2,
    most: 20,
    backlogPerTask: BACKLOG_PER_TASK,
    jobsPerTask: JOBS_PER_TASK,
  },
  janitor: { cpu: 512, memoryMiB: 1024 },
  environment,
  poolSize: 10,
  logDays: 30,
  protect: true,
  alarmEmail: 'operators@example.org',
};

export const configurations: Readonly<Record<Stage, Configuration>> = { development, staging, production };
