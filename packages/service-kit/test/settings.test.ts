import { describe, expect, it } from '@jest/globals';
import { defaultRetryPolicy, MAX_JOB_LOSSES } from '@pasteflow/domain';
import { ConfigError, loadConfig } from '@pasteflow/runtime';
import { z } from 'zod';
import {
  awsEnv,
  bucketEnv,
  databaseEnv,
  idempotencyRetentionEnv,
  jobRetryEnv,
  leaseSeconds,
  maxPasteBytesEnv,
  queueEnv,
  quotaEnv,
  uploadRetryEnv,
} from '../src/index.ts';

describe('the database variables', () => {
  it('require a URL, and default to 10 connections with prepared statements', () => {
    const DATABASE_URL = 'postgresql://me@127.0.0.1:5432/pasteflow';
    expect(loadConfig(databaseEnv, { DATABASE_URL })).toEqual({
      url: DATABASE_URL,
      poolSize: 10,
      preparedStatements: true,
      mayLoseDataBy: [],
    });
    expect(loadConfig(databaseEnv, { DATABASE_URL, DATABASE_POOL_SIZE: '3' }).poolSize).toBe(3);
    expect(loadConfig(databaseEnv, { DATABASE_URL, PREPARED_STATEMENTS: 'off' }).preparedStatements).toBe(
      false,
    );
    expect(() => loadConfig(databaseEnv, {})).toThrow(
      'DATABASE_URL is missing; set it to a URL like postgres://',
    );
  });
});

describe('the AWS variables', () => {
  it('refuse to use AWS itself without PASTEFLOW_STACK=aws', () => {
    expect(() => loadConfig(awsEnv, {})).toThrow('or set PASTEFLOW_STACK=aws to use AWS itself');
    expect(loadConfig(awsEnv, { PASTEFLOW_STACK: 'aws', AWS_REGION: 'eu-west-1' })).toEqual({
      region: 'eu-west-1',
      requests: 'direct',
    });
  });

  it.each([
    ['AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL_SQS is missing; set it to the URL of the SQS server'],
    ['AWS_ENDPOINT_URL_SQS', 'AWS_ENDPOINT_URL_S3 is missing; set it to the URL of the S3 server'],
  ])('refuse to use AWS itself for what %s does not name', (name, message) => {
    const endpoint = { [name]: 'http://127.0.0.1:4566' };
    expect(() => loadConfig(awsEnv, endpoint)).toThrow(message);
    expect(loadConfig(awsEnv, { ...endpoint, PASTEFLOW_STACK: 'aws' }).region).toBe('us-east-1');
  });

  it("use one endpoint for S3 and SQS, and prefer a service's own endpoint", () => {
    const env = { AWS_ENDPOINT_URL: 'http://127.0.0.1:4566', AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:9000' };
    expect(loadConfig(awsEnv, { ...env, S3_REQUESTS: 'sdk' })).toEqual({
      region: 'us-east-1',
      requests: 'sdk',
      s3Endpoint: 'http://127.0.0.1:9000',
      sqsEndpoint: 'http://127.0.0.1:4566',
    });
  });

  it('refuse an unknown stack', () => {
    expect(() => loadConfig(awsEnv, { PASTEFLOW_STACK: 'gcp' })).toThrow(
      'PASTEFLOW_STACK is "gcp"; set it to aws',
    );
  });
});

describe('the other shared variables', () => {
  it('name the queues and the bucket', () => {
    expect(loadConfig(queueEnv, {})).toEqual({
      uploads: 'pasteflow-uploads',
      jobs: 'pasteflow-jobs',
      withContent: true,
    });
    expect(loadConfig(bucketEnv, {})).toBe('pasteflow');
    expect(() => loadConfig(queueEnv, { UPLOAD_QUEUE_NAME: 'a b' })).toThrow(
      'UPLOAD_QUEUE_NAME is not a queue name',
    );
    expect(() => loadConfig(bucketEnv, { S3_BUCKET: 'Pasteflow' })).toThrow('S3_BUCKET is not a bucket name');
  });

  it('default to the retry policy of the domain', () => {
    expect(loadConfig(uploadRetryEnv, {})).toEqual(defaultRetryPolicy);
    expect(loadConfig(jobRetryEnv, {})).toEqual({ ...defaultRetryPolicy, maxLosses: MAX_JOB_LOSSES });
    const env = { UPLOAD_RETRY_DELAYS_MS: '12,20', JOB_RETRY_DELAYS_MS: '3000' };
    expect(loadConfig(uploadRetryEnv, env)).toEqual({ delaysMs: [12, 20], jitterMs: 2 });
    expect(loadConfig(jobRetryEnv, env)).toEqual({
      delaysMs: [3000],
      jitterMs: 200,
      maxLosses: MAX_JOB_LOSSES,
    });
  });

  it('set no quotas by default, and each by itself', () => {
    expect(loadConfig(quotaEnv, {})).toBeNull();
    expect(loadConfig(quotaEnv, { MAX_PASTES_PER_USER: '0', MAX_STORED_BYTES: '0' })).toBeNull();
    const set = (env: Record<string, string>) => loadConfig(quotaEnv, env);
    const none = { maxPastes: null, maxBytes: null, maxStoredPastes: null, maxStoredBytes: null };
    expect(set({ MAX_PASTES_PER_USER: '5' })).toEqual({ ...none, maxPastes: 5 });
    expect(set({ MAX_STORED_BYTES_PER_USER: '6' })).toEqual({ ...none, maxBytes: 6 });
    expect(set({ MAX_PASTES: '8' })).toEqual({ ...none, maxStoredPastes: 8 });
    expect(set({ MAX_STORED_BYTES: '7' })).toEqual({ ...none, maxStoredBytes: 7 });
    expect(() => set({ MAX_STORED_BYTES: '-1' })).toThrow('MAX_STORED_BYTES');
  });

  it('bound the size of a paste', () => {
    expect(loadConfig(maxPasteBytesEnv, {})).toBe(10 * 1024 * 1024);
    expect(loadConfig(maxPasteBytesEnv, { MAX_PASTE_BYTES: '67108864' })).toBe(64 * 1024 * 1024);
    expect(() => loadConfig(maxPasteBytesEnv, { MAX_PASTE_BYTES: '67108865' })).toThrow(
      'MAX_PASTE_BYTES is too large; set it to at most 67108864',
    );
  });

  it('keep the answers to idempotency keys for a day by default', () => {
    expect(loadConfig(idempotencyRetentionEnv, {})).toBe(86_400);
  });

  it.each([
    [undefined, 6],
    ['1', 1],
    ['3600', 3600],
    ['1.5', 1.5],
  ])('read a lease of %s seconds as %d', (written, value) => {
    const schema = z.object({ EXECUTION_LEASE_SECONDS: leaseSeconds() });
    expect(loadConfig(schema, { EXECUTION_LEASE_SECONDS: written })).toEqual({
      EXECUTION_LEASE_SECONDS: value,
    });
  });

  it.each(['0.9', '3601', '6s'])('refuse a lease of %s seconds', (written) => {
    const schema = z.object({ EXECUTION_LEASE_SECONDS: leaseSeconds() });
    expect(() => loadConfig(schema, { EXECUTION_LEASE_SECONDS: written })).toThrow(ConfigError);
  });
});
