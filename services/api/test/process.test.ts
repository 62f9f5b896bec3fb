import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { spawnService, urlOfService } from '@pasteflow/dev-stack/testing';
import { useApi } from './support/api.ts';
import { postRaw } from './support/http.ts';

const bed = useApi();
const entry = fileURLToPath(new URL('../src/main.ts', import.meta.url));

describe('the process', () => {
  it('serves until SIGTERM and exits with 0', async () => {
    const service = spawnService({
      entry,
      env: {
        DATABASE_URL: urlOfService(bed.databaseUrl, 'api'),
        AWS_ENDPOINT_URL: bed.stack.aws.endpoint,
        AWS_ACCESS_KEY_ID: 'test',
        AWS_SECRET_ACCESS_KEY: 'test',
        API_PORT: '0',
        METRICS_PORT: '0',
        LOG_FORMAT: 'json',
      },
    });
    const [, url = ''] = await service.waitFor(/"message":"listening".*"url":"([^"]+)"/);
    expect((await postRaw(url, 'to a real process')).status).toBe(201);
    expect(await service.stop()).toEqual({ code: 0, signal: null });
  });

  it('exits with 78 when its configuration is wrong, and names every problem', async () => {
    const service = spawnService({
      entry,
      env: {
        DATABASE_URL: 'mysql://x',
        API_PORT: '70000',
        PUBLIC_URL: 'paste.example.org',
        MAX_PASTE_BYTES: '1000000000',
        REQUEST_TIMEOUT_SECONDS: '0',
        TRUST_PROXY: 'true',
        RATE_LIMIT_REQUESTS_PER_MINUTE: '-1',
        RATE_LIMIT_CREATIONS_PER_MINUTE: '2000000000',
        RATE_LIMIT_MISSES_PER_MINUTE: 'many',
        IDEMPOTENCY_RETENTION_SECONDS: '0',
        S3_BUCKET: 'No Bucket',
        METRICS_PORT: 'x',
      },
    });
    expect(await service.exited).toMatchObject({ code: 78 });
    const names = service.stderr.slice(1).map((line) => line.trim().split(' ')[0]!);
    expect(names.toSorted((a, b) => a.localeCompare(b))).toEqual([
      'API_PORT',
      'AWS_ENDPOINT_URL',
      'DATABASE_URL',
      'IDEMPOTENCY_RETENTION_SECONDS',
      'MAX_PASTE_BYTES',
      'METRICS_PORT',
      'PUBLIC_URL',
      'RATE_LIMIT_CREATIONS_PER_MINUTE',
      'RATE_LIMIT_MISSES_PER_MINUTE',
      'RATE_LIMIT_REQUESTS_PER_MINUTE',
      'REQUEST_TIMEOUT_SECONDS',
      'S3_BUCKET',
      'TRUST_PROXY',
    ]);
  });
});
