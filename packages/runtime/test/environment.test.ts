import { describe, expect, it } from '@jest/globals';
import { defaultRetryPolicy } from '@pasteflow/domain';
import {
  awsEnv,
  bucketEnv,
  databaseEnv,
  jobRetryEnv,
  loadConfig,
  logEnv,
  maxPasteBytesEnv,
  metricsEnv,
  queueEnv,
  uploadRetryEnv,
} from '../src/index.ts';

describe('the database variables', () => {
  it('ask for a URL and allow 10 connections by default', () => {
    const DATABASE_URL = 'postgresql://me@127.0.0.1:5432/pasteflow';
    expect(loadConfig(databaseEnv, { DATABASE_URL })).toEqual({ url: DATABASE_URL, poolSize: 10 });
    expect(loadConfig(databaseEnv, { DATABASE_URL, DATABASE_POOL_SIZE: '3' }).poolSize).toBe(3);
    expect(() => loadConfig(databaseEnv, {})).toThrow(
      'DATABASE_URL is missing; set it to a URL like postgres://',
    );
  });
});

describe('the AWS variables', () => {
  it('refuse to use AWS itself unless it was asked for', () => {
    expect(() => loadConfig(awsEnv, {})).toThrow('or set PASTEFLOW_STACK=aws to use AWS itself');
    expect(loadConfig(awsEnv, { PASTEFLOW_STACK: 'aws', AWS_REGION: 'eu-west-1' })).toEqual({
      region: 'eu-west-1',
    });
  });

  it('use one endpoint for both services, and a service its own before it', () => {
    const env = { AWS_ENDPOINT_URL: 'http://127.0.0.1:4566', AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:9000' };
    expect(loadConfig(awsEnv, env)).toEqual({
      region: 'us-east-1',
      s3Endpoint: 'http://127.0.0.1:9000',
      sqsEndpoint: 'http://127.0.0.1:4566',
    });
  });

  it('refuse a stack that is not known', () => {
    expect(() => loadConfig(awsEnv, { PASTEFLOW_STACK: 'gcp' })).toThrow(
      'PASTEFLOW_STACK is "gcp"; set it to aws',
    );
  });
});

describe('the other shared variables', () => {
  it('name the queues and the bucket', () => {
    expect(loadConfig(queueEnv, {})).toEqual({ uploads: 'pasteflow-uploads', jobs: 'pasteflow-jobs' });
    expect(loadConfig(bucketEnv, {})).toBe('pasteflow');
    expect(() => loadConfig(queueEnv, { UPLOAD_QUEUE_NAME: 'a b' })).toThrow(
      'UPLOAD_QUEUE_NAME is no queue name',
    );
    expect(() => loadConfig(bucketEnv, { S3_BUCKET: 'Pasteflow' })).toThrow('S3_BUCKET is no bucket name');
  });

  it('keep to the retry policy of the domain', () => {
    expect(loadConfig(uploadRetryEnv, {})).toEqual(defaultRetryPolicy);
    expect(loadConfig(jobRetryEnv, {})).toEqual(defaultRetryPolicy);
    const env = { UPLOAD_RETRY_DELAYS_MS: '10,20', UPLOAD_RETRY_JITTER_MS: '0', JOB_RETRY_DELAYS_MS: '30' };
    expect(loadConfig(uploadRetryEnv, env)).toEqual({ delaysMs: [10, 20], jitterMs: 0 });
    expect(loadConfig(jobRetryEnv, env)).toEqual({ delaysMs: [30], jitterMs: 200 });
  });

  it('bound how long a paste may be', () => {
    expect(loadConfig(maxPasteBytesEnv, {})).toBe(10 * 1024 * 1024);
    expect(loadConfig(maxPasteBytesEnv, { MAX_PASTE_BYTES: '67108864' })).toBe(64 * 1024 * 1024);
    expect(() => loadConfig(maxPasteBytesEnv, { MAX_PASTE_BYTES: '67108865' })).toThrow(
      'MAX_PASTE_BYTES is too large; set it to at most 67108864',
    );
  });

  it('serve metrics on 127.0.0.1, at the port of the service', () => {
    expect(loadConfig(metricsEnv(9464), {})).toEqual({ host: '127.0.0.1', port: 9464 });
    const env = { METRICS_HOST: '0.0.0.0', METRICS_PORT: '0' };
    expect(loadConfig(metricsEnv(9464), env)).toEqual({ host: '0.0.0.0', port: 0 });
  });

  it('log JSON in production, whoever reads it', () => {
    expect(loadConfig(logEnv, { NODE_ENV: 'production' })).toEqual({ level: 'info', format: 'json' });
    expect(loadConfig(logEnv, { LOG_LEVEL: 'debug', LOG_FORMAT: 'pretty', NODE_ENV: 'production' })).toEqual({
      level: 'debug',
      format: 'pretty',
    });
    expect(() => loadConfig(logEnv, { LOG_LEVEL: 'loud' })).toThrow(
      'set it to error or warn or info or debug',
    );
  });
});
