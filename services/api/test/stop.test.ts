import { describe, expect, it } from '@jest/globals';
import { FaultProxy, spawnService, urlOfService } from '@pasteflow/dev-stack/testing';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { useApi } from './support/api.ts';
import { answerOn, dial, parseAnswer, postRaw } from './support/http.ts';
import { countPastes, pasteRow, processedPaste } from './support/pastes.ts';
import { until } from './support/until.ts';

const bed = useApi();

describe('stopping the api', () => {
  it('completes running requests, closes their connections, and accepts no new connection after that', async () => {
    const api = await bed.start({ stopNoticeMs: 500 });
    const socket = await dial(api.port);
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 8\r\n\r\nhalf');
    await until(async () => (await fetch(`${api.url}/healthz`)).ok);
    let stopped = false;
    const stop = api.stop().then(() => (stopped = true));
    await until(() => refuses(api.port));
    expect(stopped).toBe(false);
    socket.write('done');
    const answer = await answerOn(socket);
    expect(answer).toMatchObject({ status: 201, headers: { connection: 'close' } });
    await stop;
    expect(await pasteRow(bed.db, new URL(answer.body.trim()).pathname.slice(1))).toMatchObject({
      size_bytes: 8,
    });
  });

  it('completes a running download, and then closes its connection', async () => {
    const content = Buffer.alloc(10_485_760, 'x');
    const code = await processedPaste(bed, content);
    const api = await bed.start({ stopNoticeMs: 100, stopDeadlineMs: 60_000 }); // longer than the test
    const socket = await dial(api.port);
    socket.write(`GET /${code} HTTP/1.1\r\nHost: x\r\n\r\n`);
    const [first] = (await once(socket, 'data')) as [Buffer];
    socket.pause(); // the rest waits in the kernel and in the api
    expect(parseAnswer(first.toString()).headers.connection).toBe('keep-alive');
    const stop = api.stop();
    await until(() => refuses(api.port));
    const rest = await text(socket);
    expect(parseAnswer(first.toString() + rest).body).toHaveLength(content.length);
    await stop;
    socket.destroy();
  });

  it('answers on idle connections for a while with Connection: close, is not ready, and then closes them', async () => {
    const api = await bed.start({ stopNoticeMs: 2000 });
    const [used, unused] = await Promise.all([dial(api.port), dial(api.port)]);
    for (const socket of [used, unused]) {
      socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
      await once(socket, 'data');
    }
    const stop = api.stop();
    used.write('GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(await answerOn(used)).toMatchObject({ status: 503, headers: { connection: 'close' } });
    expect(await text(unused)).toBe('');
    unused.destroy();
    await stop;
  });

  it('cuts unfinished requests at the deadline', async () => {
    const api = await bed.start({ stopNoticeMs: 200, stopDeadlineMs: 500 });
    const before = await countPastes(bed.db);
    const socket = await dial(api.port);
    socket.on('error', () => {});
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 8\r\n\r\nhalf');
    await until(async () => (await fetch(`${api.url}/healthz`)).ok);
    const closed = once(socket, 'close');
    socket.resume().once('end', () => socket.destroy());
    await Promise.all([api.stop(), closed]);
    expect(await countPastes(bed.db)).toBe(before);
  });

  it('sends the messages that wait for SQS first', async () => {
    const proxy = await FaultProxy.start(bed.stack.aws.endpoint);
    const api = await bed.start({ env: { AWS_ENDPOINT_URL_SQS: proxy.url } });
    const held = proxy.hold({ target: 'SendMessageBatch' });
    const { short_code } = (await (await postRaw(api.url, 'last one')).json()) as { short_code: string };
    const stop = api.stop();
    await (await held).forward();
    await stop;
    const { id } = (await pasteRow(bed.db, short_code))!;
    const execution = await bed.db
      .selectFrom('task_executions')
      .select('dispatched_at')
      .where('subject_id', '=', id)
      .executeTakeFirstOrThrow();
    expect(execution.dispatched_at).not.toBeNull();
    await proxy.stop();
  });

  it('drops no request of clients that keep their connections busy', async () => {
    const api = await bed.start({ stopNoticeMs: 2000 });
    const agent = new Agent({ keepAlive: true, maxSockets: 8 });
    const before = await countPastes(bed.db);
    const outcomes: (number | string)[] = [];
    let refused = 0;
    const client = async (): Promise<void> => {
      while (refused === 0) {
        const outcome = await post(api.port, agent);
        if (outcome === 'ECONNREFUSED') refused += 1;
        else outcomes.push(outcome);
      }
    };
    const clients = Promise.all(Array.from({ length: 8 }, client));
    await until(() => outcomes.length > 50);
    await api.stop();
    await clients;
    agent.destroy();
    expect(new Set(outcomes)).toEqual(new Set([201]));
    expect(await countPastes(bed.db)).toBe(before + outcomes.length);
  });
});

describe('starting the api', () => {
  it('reports in one sentence that its port is in use', async () => {
    await expect(bed.start({ env: { API_PORT: String(bed.api.port) } })).rejects.toThrow(
      new RegExp(`^127\\.0\\.0\\.1:${bed.api.port} is in use by another program\\. .*API_PORT`),
    );
  });
});

async function post(port: number, agent: Agent): Promise<number | string> {
  return await new Promise((resolve) => {
    request({ port, host: '127.0.0.1', method: 'POST', path: '/', agent }, (res) => {
      res.resume().once('close', () => resolve(res.complete ? res.statusCode! : 'incomplete'));
    })
      .once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
      .end('under load');
  });
}

async function refuses(port: number): Promise<boolean> {
  await sleep(10);
  return await dial(port).then(
    (socket) => {
      socket.destroy();
      return false;
    },
    () => true,
  );
}

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
