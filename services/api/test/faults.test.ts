import { createServer, type Server, type Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { FaultProxy, TcpProxy } from '@pasteflow/dev-stack/testing';
import { useApi } from './support/api.ts';
import { startHoldingProxy } from './support/holding-proxy.ts';
import { dial, postRaw, problemOf } from './support/http.ts';
import { countPastes, pasteRow, processedPaste } from './support/pastes.ts';
import { until } from './support/until.ts';

const bed = useApi();

/** More than is read as a whole before the answer begins. */
const LARGE = 256 * 1024 + 1;

describe('while Postgres is unavailable', () => {
  it('answers requests with 503, and serves them again when it is back', async () => {
    const proxy = await TcpProxy.start(bed.stack.postgres.port);
    const api = await bed.start({ env: { DATABASE_URL: proxy.through(bed.databaseUrl) } });
    const code = await processedPaste(bed, 'stored');
    expect((await fetch(`${api.url}/${code}`)).status).toBe(200);
    const before = await countPastes(bed.db);

    await proxy.down();
    const requests = [
      postRaw(api.url, 'x'),
      fetch(`${api.url}/${code}`),
      fetch(`${api.url}/v1/pastes/${code}/timeline`),
    ];
    for (const response of await Promise.all(requests)) {
      expect(response.headers.get('retry-after')).toBe('1');
      expect(await problemOf(response)).toMatchObject({ status: 503, code: 'dependency_unavailable' });
    }
    expect((await fetch(`${api.url}/healthz`)).status).toBe(200);
    expect((await fetch(`${api.url}/readyz`)).status).toBe(503);
    expect(api.logs.filter(({ level }) => level === 'error')).toEqual([]);
    expect(await countPastes(bed.db)).toBe(before);

    await proxy.up();
    expect((await postRaw(api.url, 'x')).status).toBe(201);
    expect((await fetch(`${api.url}/${code}`)).status).toBe(200);
    const readiness = async () => (await fetch(`${api.url}/readyz`)).status;
    await until(readiness, (status) => status === 200); // the checks are repeated after a second
    await api.stop();
    await proxy.stop();
  });

  it('is not ready before the settings of Postgres have been checked, although Postgres answers', async () => {
    const proxy = await startHoldingProxy(bed.stack.postgres.port, 'json_object_agg');
    const api = await bed.start({ env: { DATABASE_URL: proxy.through(bed.databaseUrl) } });
    const readiness = async () => (await fetch(`${api.url}/readyz`)).status;
    expect(await readiness()).toBe(503);
    proxy.release();
    await until(readiness, (status) => status === 200);
    await api.stop();
    await proxy.stop();
  });

  it('still answers malformed short codes and the usage', async () => {
    const proxy = await TcpProxy.start(bed.stack.postgres.port);
    const api = await bed.start({ env: { DATABASE_URL: proxy.through(bed.databaseUrl) } });
    await proxy.down();
    expect((await fetch(`${api.url}/${'x'.repeat(10_000)}`)).status).toBe(404);
    expect((await fetch(api.url)).status).toBe(200);
  });
});

describe('while SQS is unavailable', () => {
  it.each(['refusing', 'silent'])('still creates pastes with 201: SQS is %s', async (how) => {
    const proxy = await FaultProxy.start(bed.stack.aws.endpoint);
    const api = await bed.start({ env: { AWS_ENDPOINT_URL_SQS: proxy.url } });
    if (how === 'refusing') await proxy.down();
    else proxy.rule({}, { kind: 'hang' });
    const created = await Promise.all(Array.from({ length: 30 }, (_, i) => postRaw(api.url, `content ${i}`)));
    expect(created.map(({ status }) => status)).toEqual(Array(30).fill(201));
    const { short_code } = (await created[0]!.json()) as { short_code: string };
    const { id } = (await pasteRow(bed.db, short_code))!;
    const execution = await bed.db
      .selectFrom('task_executions')
      .selectAll()
      .where('subject_id', '=', id)
      .executeTakeFirstOrThrow();
    expect(execution).toMatchObject({ status: 'PENDING', dispatched_at: null });
    expect((await fetch(`${api.url}/readyz`)).status).toBe(200);
    await api.stop(); // a hanging request delays the stop only briefly
    // One line of a kind is written in a second, so the counts of the lines don't add up to 30.
    await until(() => api.logs.some(({ message }) => message === 'messages left to the relay'));
    await proxy.stop();
  });
});

describe('while Postgres can read and not write', () => {
  it('stays ready, shows that the last paste could not be written, and counts the refusals', async () => {
    const api = await bed.start();
    const code = await processedPaste(bed, 'stored');
    await sql`CREATE FUNCTION refuse_writes() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$`.execute(
      bed.db,
    );
    await sql`CREATE TRIGGER refuse_writes BEFORE INSERT ON pastes EXECUTE FUNCTION refuse_writes()`.execute(
      bed.db,
    );
    try {
      expect((await postRaw(api.url, 'x')).status).toBe(503);
      expect((await fetch(`${api.url}/${code}`)).status).toBe(200);
      const ready = await until(
        async () =>
          (await fetch(`${api.url}/readyz`)).json() as Promise<{ checks: Record<string, { state: string }> }>,
        ({ checks }) => checks.postgres_writes?.state === 'failed',
      );
      expect(ready).toMatchObject({ ready: true, checks: { postgres_writes: { required: false } } });
    } finally {
      await sql`DROP FUNCTION refuse_writes() CASCADE`.execute(bed.db);
    }
    expect((await postRaw(api.url, 'x')).status).toBe(201);
    await until(
      async () =>
        (await fetch(`${api.url}/readyz`)).json() as Promise<{ checks: Record<string, { state: string }> }>,
      ({ checks }) => checks.postgres_writes?.state === 'ok',
    );
    await api.stop();
  });
});

describe('while S3 is unavailable', () => {
  it('answers 503 with Retry-After for content, and serves metadata as usual', async () => {
    const proxy = await FaultProxy.start(bed.stack.aws.endpoint);
    const api = await bed.start({ env: { AWS_ENDPOINT_URL_S3: proxy.url } });
    const code = await processedPaste(bed, 'stored');
    proxy.rule({ method: 'GET' }, { kind: 'fail', status: 500 });
    const failing = await fetch(`${api.url}/${code}`);
    expect(failing.headers.get('retry-after')).toBe('1');
    expect(failing.headers.has('etag')).toBe(false);
    expect(await problemOf(failing)).toMatchObject({ status: 503, code: 'dependency_unavailable' });
    await proxy.down();
    expect((await fetch(`${api.url}/${code}`)).status).toBe(503);
    expect((await fetch(`${api.url}/v1/pastes/${code}`)).status).toBe(200);
    const ready = await fetch(`${api.url}/readyz`);
    expect(ready.status).toBe(200);
    expect(await ready.json()).toMatchObject({ checks: { s3: { state: 'failed', required: false } } });
    await proxy.up();
    proxy.clear();
    expect((await fetch(`${api.url}/${code}`)).status).toBe(200);
    await proxy.stop();
  });

  it('answers 503 when S3 sends a part of a small content', async () => {
    const s3 = await halfS3((socket) => socket.end(half(10)));
    const api = await bed.start({ env: { AWS_ENDPOINT_URL_S3: s3.url } });
    const code = await processedPaste(bed, 'whole body');
    const response = await fetch(`${api.url}/${code}`);
    expect(response.headers.has('etag')).toBe(false);
    expect(await problemOf(response)).toMatchObject({ status: 503, code: 'dependency_unavailable' });
    await s3.stop();
  });

  it('makes an incomplete transfer of a large content visible to the client', async () => {
    const s3 = await halfS3((socket) => {
      socket.write(half(LARGE), () => setTimeout(() => socket.destroy(), 20));
    });
    const api = await bed.start({ env: { AWS_ENDPOINT_URL_S3: s3.url } });
    const code = await processedPaste(bed, Buffer.alloc(LARGE));
    const response = await fetch(`${api.url}/${code}`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-length')).toBe(String(LARGE));
    await expect(response.text()).rejects.toThrow();
    await until(() => api.logs.some(({ message }) => message === 'request'));
    expect(api.logs).toContainEqual(
      expect.objectContaining({ level: 'error', message: 'content cut off by S3', short_code: code }),
    );
    await s3.stop();
  });

  it.each([
    ['small', 10],
    ['large', LARGE],
  ])('aborts the request to S3 for a %s content when the client disconnects', async (_name, size) => {
    const proxy = await FaultProxy.start(bed.stack.aws.endpoint);
    // No request to S3 times out within the time of the test: only the disconnect ends it.
    const waiting = await bed.start({ env: { AWS_ENDPOINT_URL_S3: proxy.url }, s3RequestTimeoutMs: 600_000 });
    const code = await processedPaste(bed, Buffer.alloc(size));
    const held = proxy.hold({ method: 'GET' });
    const early = await dial(waiting.port);
    early.write(`GET /${code} HTTP/1.1\r\nHost: x\r\n\r\n`);
    const { request } = await held;
    early.destroy();
    await until(() => request.aborted);
    await proxy.stop();

    const [sent, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const s3 = await halfS3((socket) => {
      socket.write(half(size), () => sent.resolve());
      socket.once('close', () => closed.resolve());
    });
    const streaming = await bed.start({ env: { AWS_ENDPOINT_URL_S3: s3.url } });
    const late = await dial(streaming.port);
    late.write(`GET /${code} HTTP/1.1\r\nHost: x\r\n\r\n`);
    const received: Buffer[] = [];
    late.on('data', (chunk: Buffer) => received.push(chunk));
    await sent.promise;
    if (size === LARGE) await until(() => Buffer.concat(received).includes('half!'));
    late.destroy();
    await closed.promise;
    await until(() =>
      streaming.logs.some(({ message, aborted }) => message === 'request' && aborted === true),
    );
    for (const { logs, url } of [waiting, streaming]) {
      expect((await fetch(`${url}/readyz`)).status).toBe(200); // by now everything was logged
      expect(logs.filter(({ level }) => level === 'error' || level === 'warn')).toEqual([]);
    }
    await s3.stop();
  });
});

/** The beginning of an answer of S3. */
const half = (size: number): string => `HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\nhalf!`;

/** An S3 that answers each request with bytes that the test chooses. */
async function halfS3(answer: (socket: Socket) => void): Promise<{ url: string; stop(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).once('data', () => answer(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
