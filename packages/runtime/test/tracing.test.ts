import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from '@jest/globals';
import { spawnService, type SpawnedProcess } from '@pasteflow/dev-stack/testing';
import {
  ConfigError,
  loadConfig,
  messageSpans,
  runInSpan,
  runOutsideSpans,
  traceIdOf,
  tracer,
  traceparentOf,
  tracingEnv,
  tracingOff,
  withSpan,
} from '../src/index.ts';
import { parseTraceparent } from '../src/tracing/spans.ts';
import { summaryOf } from '../src/tracing/statement-spans.ts';

const ENTRY = fileURLToPath(new URL('fixtures/traced-service.ts', import.meta.url));

/** Stopped after each test. */
const toStop: (Server | SpawnedProcess)[] = [];
afterEach(async () => {
  for (const each of toStop.splice(0)) {
    if ('close' in each) {
      each.closeAllConnections();
      await new Promise((resolve) => each.close(resolve));
    } else each.kill('SIGKILL');
  }
});

interface CollectorRequest {
  readonly path: string | undefined;
  readonly type: string | undefined;
  readonly authorization: string | undefined;
  readonly body: string;
}

/** A collector that answers, or that never does. */
async function startCollector({
  answers,
}: {
  answers: boolean;
}): Promise<{ url: string; requests: CollectorRequest[] }> {
  const requests: CollectorRequest[] = [];
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const { 'content-type': type, authorization } = req.headers;
      requests.push({ path: req.url, type, authorization, body: Buffer.concat(chunks).toString('latin1') });
      if (answers) res.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  toStop.push(server);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

async function startService(env: Record<string, string>): Promise<SpawnedProcess> {
  const service = spawnService({ entry: ENTRY, env: { LOG_FORMAT: 'json', ...env } });
  toStop.push(service);
  await service.waitFor(/"message":"service started"/);
  return service;
}

const lines = ({ stderr }: SpawnedProcess) =>
  stderr.map((line) => JSON.parse(line) as Record<string, unknown>);

describe('a traced service', () => {
  it('sends its spans as protobuf with the configured headers when it is stopped, and logs with their ids', async () => {
    const { url, requests } = await startCollector({ answers: true });
    const service = await startService({
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20secret-of-the-collector',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test-environment',
    });
    expect(await service.stop()).toEqual({ code: 0, signal: null });
    expect(requests).toEqual([
      {
        path: '/v1/traces',
        type: 'application/x-protobuf',
        authorization: 'Bearer secret-of-the-collector',
        body: expect.stringMatching(/test-environment[^]*pasteflow[^]*work of the fixture/),
      },
    ]);
    expect(lines(service).find(({ message }) => message === 'worked')).toMatchObject({
      trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      span_id: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
    expect(lines(service).find(({ message }) => message === 'service started')).not.toHaveProperty(
      'trace_id',
    );
    expect(service.stderr.join('')).not.toContain('secret-of-the-collector');
  });

  it.each(['that never answers', 'that does not exist'])(
    'exits with 0 and logs a warning with a collector %s',
    async (collector) => {
      const { url } =
        collector === 'that never answers'
          ? await startCollector({ answers: false })
          : { url: 'http://127.0.0.1:1' };
      const service = await startService({ OTEL_EXPORTER_OTLP_ENDPOINT: url });
      expect(await service.stop()).toEqual({ code: 0, signal: null });
      expect(lines(service)).toContainEqual(
        expect.objectContaining({ level: 'warn', message: 'last spans could not be sent' }),
      );
    },
  );

  it('sends no spans when its sampler is always_off, and still logs with ids', async () => {
    const { url, requests } = await startCollector({ answers: true });
    const service = await startService({
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_TRACES_SAMPLER: 'always_off',
    });
    expect(await service.stop()).toEqual({ code: 0, signal: null });
    expect(requests).toEqual([]);
    expect(lines(service).find(({ message }) => message === 'worked')).toHaveProperty('trace_id');
  });
});

describe('tracing that is off', () => {
  it('is the default without an endpoint, and is chosen by OTEL_SDK_DISABLED', () => {
    const endpoint = 'http://127.0.0.1:4318';
    expect(loadConfig(tracingEnv, {})).toEqual({ endpoint: undefined });
    expect(loadConfig(tracingEnv, { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint })).toEqual({ endpoint });
    const disabled = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SDK_DISABLED: 'true' };
    expect(loadConfig(tracingEnv, disabled)).toEqual({ endpoint: undefined });
  });

  it.each([
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' },
    { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    { OTEL_TRACES_SAMPLER: 'sometimes' },
    { OTEL_TRACES_SAMPLER_ARG: '2' },
  ])('refuses %j', (env) => {
    expect(() => loadConfig(tracingEnv, env)).toThrow(ConfigError);
  });

  it('records nothing, changes no message and observes no statement', async () => {
    const work = Promise.resolve('done');
    const span = tracer.startSpan('work');
    expect(span.isRecording()).toBe(false);
    expect(traceparentOf(span)).toBeUndefined();
    expect(runInSpan(span, () => work)).toBe(work);
    expect(runOutsideSpans(() => work)).toBe(work);
    expect(await withSpan('work', {}, () => work)).toBe('done');
    expect(tracingOff.onStatement).toBeUndefined();
    const traceparent = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`;
    for (const relation of ['child', 'linked'] as const) {
      const message = { executionId: 'e1', context: { traceparent } };
      const traced = messageSpans({ queueName: 'uploads', relation })(message);
      expect(traced.message).toBe(message);
      traced.ended([]);
    }
  });
});

describe('a traceparent', () => {
  const ids = '0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331';
  it('is parsed to the ids of a trace and a span, in any version', () => {
    const parsed = { traceId: ids.slice(0, 32), spanId: ids.slice(33), flags: 1 };
    expect(parseTraceparent(`00-${ids}-01`)).toEqual(parsed);
    expect(parseTraceparent(`cc-${ids}-03`)).toEqual({ ...parsed, flags: 3 });
    expect(traceIdOf(`00-${ids}-00`)).toEqual({ trace_id: parsed.traceId });
  });

  it.each([
    undefined,
    '',
    `ff-${ids}-01`,
    `00-${ids}`,
    `00-${ids}-01-more`,
    `00-${ids.toUpperCase()}-01`,
    `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
    `00-0af7651916cd43dd8448eb211c80319c-${'0'.repeat(16)}-01`,
  ])('is invalid: %j', (text) => {
    expect(parseTraceparent(text)).toBeUndefined();
    expect(traceIdOf(text)).toEqual({});
  });
});

it.each([
  ['SELECT 1', 'SELECT'],
  ['select "p".* from "pastes" as "p" where "short_code" = $1', 'SELECT pastes'],
  ['insert into "users" ("name") values ($1)', 'INSERT users'],
  [
    'WITH paste AS (\n INSERT INTO pastes (short_code) VALUES ($1)), e AS (INSERT INTO task_executions …) SELECT',
    'INSERT pastes',
  ],
  [
    'WITH due AS (SELECT id FROM task_executions ORDER BY id FOR UPDATE SKIP LOCKED), c AS (UPDATE task_executions e SET status = $1) SELECT',
    'UPDATE task_executions',
  ],
  ['SELECT id FROM jobs ORDER BY id FOR NO KEY UPDATE', 'SELECT jobs'],
  ['DELETE FROM assets WHERE id = $1', 'DELETE assets'],
])('names a statement by the table that it changes or reads: %s', (sql, summary) => {
  expect(summaryOf(sql)).toBe(summary);
});
