import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Paste } from '@pasteflow/client';
import { Collector, startCluster, type Cluster, type ExportedSpan } from '../src/index.ts';

let collector: Collector;
let cluster: Cluster;
beforeAll(async () => {
  collector = await Collector.start();
  cluster = await startCluster({
    env: {
      ...collector.env,
      RATE_LIMIT_REQUESTS_PER_MINUTE: '0', // without the statements of the rate limits
      RATE_LIMIT_CREATIONS_PER_MINUTE: '0',
      RATE_LIMIT_MISSES_PER_MINUTE: '0',
      RATE_LIMIT_BYTES_PER_HOUR: '0',
      RATE_LIMIT_ANONYMOUS_BYTES_PER_HOUR: '0',
      UPLOAD_RETRY_DELAYS_MS: '100,100',
      SWEEP_INTERVALS: 'relay=0.2',
    },
  });
});
afterAll(async () => {
  await cluster?.stop();
  await collector?.stop();
});

const FAIL = { kind: 'fail', status: 500 } as const;
const CLIENT_SPAN = 'b7ad6b7169203331';
const CONTENT = 'words that must stay private';

/** Creates a paste in a trace of the client. */
async function post(): Promise<{
  paste: Paste & { delete_token: string };
  traceId: string;
  requestId: string;
}> {
  const traceId = crypto.randomUUID().replaceAll('-', '');
  const requestId = `req-${traceId.slice(0, 8)}`;
  const headers = { traceparent: `00-${traceId}-${CLIENT_SPAN}-01`, 'x-request-id': requestId };
  const answer = await cluster.http().post(CONTENT, { headers });
  expect(answer.status).toBe(201);
  return { paste: (await answer.json()) as Paste & { delete_token: string }, traceId, requestId };
}

/** Waits until the trace has so many spans. @returns the spans as lines, see Collector */
async function treeOf(traceId: string, spans: number): Promise<string[]> {
  return await cluster.until(
    () => collector.tree(traceId),
    (tree) => tree.length >= spans,
  );
}

function spanOf(traceId: string, name: string): ExportedSpan {
  const found = collector.spans.find((span) => span.traceId === traceId && span.name === name);
  if (found === undefined) throw new Error(`no span ${name} in ${collector.tree(traceId).join('\n')}`);
  return found;
}

describe('the trace of a paste', () => {
  it('covers the POST, the message, the put and the settlement, below the client’s span', async () => {
    const { paste, traceId, requestId } = await post();
    expect(await treeOf(traceId, 7)).toEqual([
      'api POST /v1/pastes',
      '  api INSERT pastes',
      `  api send ${cluster.stack.aws.queues.uploads}`,
      '    upload-worker process upload',
      '      upload-worker claim',
      '      upload-worker put object',
      '      upload-worker settle',
    ]);
    const request = spanOf(traceId, 'POST /v1/pastes');
    expect(request.parentSpanId).toBe(CLIENT_SPAN);
    expect(request.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/v1/pastes',
      'http.response.status_code': 201,
      'pasteflow.request_id': requestId,
      'pasteflow.short_code': paste.short_code,
    });
    const [execution] = await cluster.executions(paste.short_code);
    expect(spanOf(traceId, 'process upload').attributes).toMatchObject({
      'pasteflow.request_id': requestId,
      'pasteflow.short_code': paste.short_code,
      'pasteflow.execution_id': execution?.id,
      'pasteflow.attempt': 1,
      'pasteflow.outcome': 'succeeded',
    });
  });

  it('contains failed puts and the attempts after them', async () => {
    const dispatch = cluster.sqs.hold({ target: 'SendMessageBatch' });
    const { paste, traceId } = await post();
    cluster.s3.rule({ method: 'PUT', path: cluster.objectPath(paste.short_code) }, FAIL, 2);
    await (await dispatch).forward();
    const attempt = (failed: '' | '!') => [
      `    upload-worker process upload${failed}`,
      '      upload-worker claim',
      `      upload-worker put object${failed}`,
      '      upload-worker settle',
    ];
    expect(await treeOf(traceId, 15)).toEqual([
      'api POST /v1/pastes',
      '  api INSERT pastes',
      `  api send ${cluster.stack.aws.queues.uploads}`,
      ...attempt('!'),
      ...attempt('!'),
      ...attempt(''),
    ]);
    const attempts = collector.spans.filter(
      (span) => span.traceId === traceId && span.name === 'process upload',
    );
    expect(attempts.map(({ attributes }) => attributes['pasteflow.attempt'])).toEqual([1, 2, 3]);
    expect(attempts.map(({ attributes }) => attributes['pasteflow.next_step'])).toEqual([
      'retry',
      'retry',
      'done',
    ]);
  });

  it('is a new trace for a message that the relay sends', async () => {
    const restore = cluster.sqs.rule({ target: 'SendMessageBatch' }, FAIL);
    const { paste, traceId } = await post();
    expect(await treeOf(traceId, 3)).toEqual([
      'api POST /v1/pastes',
      '  api INSERT pastes',
      `  api send ${cluster.stack.aws.queues.uploads}!`,
    ]);
    restore();
    const relayed = await cluster.until(
      () =>
        collector.spans.find(
          ({ name, attributes }) =>
            name === 'process upload' && attributes['pasteflow.short_code'] === paste.short_code,
        ),
      (span) => span !== undefined,
    );
    const found = relayed as ExportedSpan;
    expect(found.traceId).not.toBe(traceId);
    expect(await treeOf(found.traceId, 5)).toEqual([
      `janitor send ${cluster.stack.aws.queues.uploads}`,
      '  upload-worker process upload',
      '    upload-worker claim',
      '    upload-worker put object',
      '    upload-worker settle',
    ]);
  });

  it('has its id on the log lines of the request and of the attempt, beside the request id', async () => {
    const { paste, traceId, requestId } = await post();
    await treeOf(traceId, 7);
    const lines = cluster.services.flatMap(({ name, log }) =>
      log.filter(({ short_code: code }) => code === paste.short_code).map((line) => ({ name, ...line })),
    );
    const ids = { request_id: requestId, trace_id: traceId };
    expect(lines).toEqual([
      expect.objectContaining({
        ...ids,
        name: 'api',
        message: 'request',
        span_id: spanOf(traceId, 'POST /v1/pastes').spanId,
      }),
      expect.objectContaining({
        ...ids,
        name: 'upload-worker',
        message: 'upload attempt ended',
        span_id: spanOf(traceId, 'process upload').spanId,
      }),
    ]);
  });

  it('contains no content, no token and no query, and no log line does', async () => {
    const { paste, traceId } = await post();
    await treeOf(traceId, 7);
    const path = `/v1/pastes/${paste.short_code}?note=${encodeURIComponent(CONTENT)}`;
    await cluster.http().request(path, { headers: { authorization: 'Bearer pf_secretsecret' } });
    await cluster.http().request(`/v1/pastes/${paste.short_code}`, {
      method: 'DELETE',
      headers: { 'delete-token': paste.delete_token },
    });
    await cluster.until(() => collector.spans.some(({ name }) => name.startsWith('DELETE ')));
    const recorded = collector.received + JSON.stringify(cluster.services.map(({ log }) => log));
    for (const secret of [
      CONTENT,
      encodeURIComponent(CONTENT),
      btoa('words that must'),
      'secretsecret',
      paste.delete_token,
    ])
      expect(recorded).not.toContain(secret);
  });
});

it('a job has one trace, and each of its pastes has its own, with a link to the trace of the job', async () => {
  const user = await cluster.user('tracer');
  const traceId = crypto.randomUUID().replaceAll('-', '');
  const answer = await cluster.http().request('/v1/jobs', {
    method: 'POST',
    headers: {
      authorization: `Bearer ${user.token}`,
      'content-type': 'application/json',
      traceparent: `00-${traceId}-${CLIENT_SPAN}-01`,
    },
    body: JSON.stringify({
      job_type: 'import',
      parameters: { items: [{ content: 'one' }, { content: 'two' }] },
    }),
  });
  expect(answer.status).toBe(202);
  await cluster.until(
    () => collector.tree(traceId), // each service sends its spans by itself
    (tree) => {
      expect(tree[0]).toBe('api POST /v1/jobs');
      expect(tree).toContain(`  api send ${cluster.stack.aws.queues.jobs}`);
      expect(tree).toContain('    upload-worker process job');
      expect(tree).toContain('      upload-worker claim');
    },
  );
  const job = spanOf(traceId, 'process job');
  expect(job.attributes).toMatchObject({ 'pasteflow.job_type': 'import', 'pasteflow.outcome': 'succeeded' });
  const sends = await cluster.until(
    () => collector.spans.filter(({ links }) => links.some(({ spanId }) => spanId === job.spanId)),
    (spans) => spans.length === 2,
  );
  expect(new Set(sends.map((span) => span.traceId)).size).toBe(2);
  for (const send of sends) {
    expect(await treeOf(send.traceId, 5)).toEqual([
      `upload-worker send ${cluster.stack.aws.queues.uploads}`,
      '  upload-worker process upload',
      '    upload-worker claim',
      '    upload-worker put object',
      '    upload-worker settle',
    ]);
  }
});

it('a service that is stopped sends its last spans', async () => {
  const late = await cluster.add('api', { OTEL_BSP_SCHEDULE_DELAY: '600000' });
  const api = cluster.apis.length - 1;
  expect((await cluster.http(api).post(CONTENT)).status).toBe(201);
  expect(await late.stop()).toEqual({ code: 0, signal: null });
  const instance = late.log[0]?.instance;
  expect(collector.spans.filter((span) => span.instance === instance).map(({ name }) => name)).toEqual(
    expect.arrayContaining(['POST /v1/pastes', 'INSERT pastes']),
  );
});

describe('while tracing is off', () => {
  // A bundle has no modules that a service could load or leave out.
  const startFrom = process.env.TEST_SERVICES_FROM;
  beforeAll(() => {
    process.env.TEST_SERVICES_FROM = 'sources';
  });
  afterAll(() => {
    process.env.TEST_SERVICES_FROM = startFrom;
  });

  const off = {
    OTEL_EXPORTER_OTLP_ENDPOINT: '',
    NODE_OPTIONS: `--import=${fileURLToPath(new URL('fixtures/log-modules.ts', import.meta.url))}`,
  };

  it('no service loads the SDK of OpenTelemetry', async () => {
    const names = ['api', 'upload-worker', 'janitor'] as const;
    const loadedWith = async (env: Record<string, string>) =>
      await Promise.all(
        names.map(async (name) => {
          const service = await cluster.add(name, env);
          await service.stop();
          const line = service.log.find(({ message }) => message === 'modules of OpenTelemetry');
          const loaded = line?.loaded as string[];
          return loaded.filter((module) => module !== '@opentelemetry/api'); // prom-client loads it for exemplars
        }),
      );
    const [untraced, traced] = await Promise.all([
      loadedWith(off),
      loadedWith({ NODE_OPTIONS: off.NODE_OPTIONS }), // the control: with tracing, the SDK is loaded
    ]);
    expect(untraced).toEqual([[], [], []]);
    for (const loaded of traced) expect(loaded).toContain('@opentelemetry/sdk-node');
  });

  it('the client’s trace is still passed on and logged', async () => {
    const api = await cluster.add('api', off);
    const traceId = crypto.randomUUID().replaceAll('-', '');
    const answer = await cluster
      .http(cluster.apis.indexOf(api))
      .post(CONTENT, { headers: { traceparent: `00-${traceId}-${CLIENT_SPAN}-01` } });
    expect(answer.status).toBe(201);
    expect(await treeOf(traceId, 4)).toEqual([
      'upload-worker process upload',
      '  upload-worker claim',
      '  upload-worker put object',
      '  upload-worker settle',
    ]);
    expect(spanOf(traceId, 'process upload').parentSpanId).toBe(CLIENT_SPAN);
    expect(api.log.find(({ message }) => message === 'request')).toMatchObject({ trace_id: traceId });
  });
});
